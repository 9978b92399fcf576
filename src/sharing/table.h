/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees the tables of a shared port. */
#pragma once

#include "sharing/keys.h"

/*
 * Builds the table of the groups, by their numbers on the port; NULL: the number is free. They are
 * read during the call only. `port` names the port in `why`. Returns NULL with `why` if memory is
 * short or packets of two groups cannot be distinguished.
 */
struct share_table *share_table_create(const char *port, enum share_side side,
				       const struct service_group *const *groups, unsigned count,
				       char why[LIVE_LINE]);

/* A copy with capacity for at least `entries`. Returns NULL if memory is short. */
struct share_table *share_table_copy(const struct share_table *t, size_t entries);

void share_table_free(struct share_table *t);
