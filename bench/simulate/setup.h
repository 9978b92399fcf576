/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "simulation.h"

/* Makes scheduler, senders and counters for a scenario, which must live as long. Returns false and
 * leaves an error where that cannot be; simulation_free() is due in any case. */
bool setup(struct simulation *s, const struct scenario *scenario);
