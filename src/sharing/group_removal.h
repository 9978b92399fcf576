/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes a group from the table in place, if there is no memory for a table without it. */
#pragma once

#include "sharing/sharing.h"

struct share_group_removal {
	struct port_share *share;
	unsigned group;
	/* Initially zero. */
	uint32_t at; /* iterator of the table's hash */
	bool found; /* in the current iteration */
};

/*
 * For struct worker_task; `removal` is the struct share_group_removal. The port owner's worker
 * calls it between two rounds until it returns true. It needs no memory and cannot fail. Afterwards
 * the owner hands no packet to the group. Packets of a VLAN that only this group had are unmatched.
 */
bool share_group_remove(void *removal);
