/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core network of several service groups behind one port. A packet that comes out of the CMTS there is a
 * group's by its VLAN, and where that is not enough by its source address, a subscriber's.
 */
#pragma once

#include "groups/share.h"

struct network_share {
	struct share share;
	size_t keys; /* that the table is to hold */
	uint64_t no_group; /* frames of nobody */
};

/* Adds a group that sends upstream, by its place and configuration: all, and then network_share_tell(). */
void network_share_add(struct network_share *s, unsigned group, const struct service_group *sg);

/* As rphy_share_tell(). */
int network_share_tell(struct network_share *s, const struct service_group *all, unsigned count,
		       const bool *at);

/* As rphy_share_poll(). */
unsigned network_share_poll(struct network_share *s, struct traffic *const *all);
