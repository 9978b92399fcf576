/* SPDX-License-Identifier: BSD-3-Clause */
/* The frequency governor of vcmtsd run: its state folder, and updates of its configuration. */
#pragma once

#include "power/live/power.h"

/* Changes no frequencies yet. Returns NULL without memory, after a message. */
struct power *run_frequencies_open(struct server *s);

/* Applies the server's power configuration if it has changed. `p` may be NULL. */
void run_frequencies_update(struct power *p, const struct server *s);
