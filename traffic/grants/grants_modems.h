/* SPDX-License-Identifier: BSD-3-Clause */
/* The modems of a service group as traffic/access has them. */
#pragma once

#include <stdbool.h>

#include "grants/grants.h"

/* Makes modems and flows that know nothing yet. Returns false after a message. */
bool grants_modems_create(struct grants *g);

/* Begins anew with the same modems: what was asked for and granted is forgotten, what waits is not. */
void grants_modems_restart(struct grants *g);

/* Adds all counts of `part`. */
void grants_counts_add(struct access_counts *sum, const struct access_counts *part);
