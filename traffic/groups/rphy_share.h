/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The R-PHY devices of several service groups behind one port. A DEPI frame is for one of them by its VLAN,
 * and where that is not enough by destination MAC and IP address and L2TPv3 session. What fits nobody
 * counts as it does where there is one group only.
 */
#pragma once

#include "groups/share.h"

struct rphy_share {
	struct share share;
	size_t keys; /* that the table is to hold */
	/* Of nobody's frames: */
	uint64_t frames;
	uint64_t bytes;
	uint64_t unexpected[UNEXPECTEDS];
	uint64_t violations[VIOLATIONS];
};

/* Adds a group by its place and configuration: all, and then rphy_share_tell(). */
void rphy_share_add(struct rphy_share *s, unsigned group, const struct service_group *sg);

/* Makes what groups are told apart by. `all` are the `count` groups of the program, `at` says which of them
 * were added. Returns 0, or -1 after a message: two cannot be told apart, or memory is short. */
int rphy_share_tell(struct rphy_share *s, const struct service_group *all, unsigned count,
		    const bool *at);

/* Takes a burst off the port for the groups `all`. Returns how many frames that were. */
unsigned rphy_share_poll(struct rphy_share *s, struct traffic *const *all);
