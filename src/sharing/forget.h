/* SPDX-License-Identifier: BSD-3-Clause */
/* A group that goes, taken out of the table itself: for who has no memory for a table without it. */
#pragma once

#include "sharing/sharing.h"

struct share_forgetting {
	struct port_share *share;
	unsigned group;
	/* Zero at first. */
	uint32_t at; /* of the table's hash */
	bool found; /* since it was last begun with */
};

/*
 * For struct worker_task: `forgetting` is the above, and who owns the port calls it between two rounds until it
 * returns true. Needs no memory and cannot fail. From then on the table leads to the group no more. What is in a VLAN
 * that it had for itself is nobody's.
 */
bool share_forget(void *forgetting);
