/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "simulation.h"

/*
 * Creates scheduler, senders and counters for a scenario, which must outlive the simulation. Returns false
 * and sets an error if that fails. The caller must call simulation_free() in any case.
 */
bool setup(struct simulation *s, const struct scenario *scenario);
