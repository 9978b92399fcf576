/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees the tables of an upstream. */
#pragma once

#include "upstream/state/tables.h"

/* The upstream capacity that the configured objects of the group need. */
struct group_capacity us_capacity_exact(const struct service_group *sg);

/*
 * Creates the tables with the objects of `sg`, sized by `capacity`; NULL: by us_capacity_exact().
 *
 * `keys` has two schedules of the crypto provider for each modem. Returns 0, or -1 after an error
 * message. The tables keep no reference to `sg` or `keys`.
 */
int us_tables_create(struct us_tables *t, const struct service_group *sg,
		     const struct group_capacity *capacity, void *const *keys);

void us_tables_free(struct us_tables *t);
