/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and restarts the modems of traffic/access. */
#pragma once

#include <stdbool.h>

#include "grants/grants.h"

/* Creates modems and flows with empty state. Returns false after a message. */
bool grants_modems_create(struct grants *g);

/* Restarts the same modems: discards requests and grants, keeps the queues. */
void grants_modems_restart(struct grants *g);

/* Adds all counts of `part` to `sum`. */
void grants_counts_add(struct access_counts *sum, const struct access_counts *part);
