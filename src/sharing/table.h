/* SPDX-License-Identifier: BSD-3-Clause */
/* Making the tables of a shared port. */
#pragma once

#include "sharing/keys.h"

/*
 * The table of the groups, by their numbers on the port; NULL where a number is free. They are read during
 * the call only. `port` names the port in `why`. Returns NULL with that: memory is short, or two groups cannot be
 * told apart.
 */
struct share_table *share_table_create(const char *port, enum share_side side,
				       const struct service_group *const *groups, unsigned count,
				       char why[LIVE_LINE]);

/* A copy with a hash of at least so many entries, for changes. Returns NULL when memory is short. */
struct share_table *share_table_copy(const struct share_table *t, size_t entries);

void share_table_free(struct share_table *t);
