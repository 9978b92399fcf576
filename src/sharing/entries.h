/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the hash of a share_table: addresses or sessions of all groups. */
#pragma once

#include "sharing/table.h"

/* How many there are at most. */
size_t share_entries_count(enum share_side side, const struct service_group *const *groups,
			   unsigned count);

/* Puts them into the hash of the table, whose VLANs are known. Returns 0, or -1 after a message. */
int share_entries_add(struct share_table *t, const char *port, enum share_side side,
		      const struct service_group *const *groups, unsigned count);
