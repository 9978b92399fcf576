/* SPDX-License-Identifier: BSD-3-Clause */
/* A group that comes, while it is prepared: for group_add.c, which does all that can fail, and group_life.c. */
#pragma once

#include "server/group_life.h"

/* What was done for the group on its port of one role. */
struct arrival_port {
	bool joined;
	bool plugged; /* the device is its own */
	bool has_share; /* it is shared with other groups, or by a VLAN */
	bool made; /* the share, as no group shared the port before */
	bool read; /* the owner of the share is to receive from the port */
	bool lane;
	bool send_ring;
	unsigned descriptors; /* that buffers are taken for */
	struct share_table *table; /* that will take effect, or did before */
	struct server_port before; /* the port before this group joined; of one that was there */
};

struct group_arrival {
	struct server *server;
	const struct service_group *sg;
	unsigned group;
	char *why;
	struct shares_site site; /* with it */
	struct pool_needs needs; /* with those of its ports */
	bool taken;
	bool linear; /* the pool for copies was made for it */
	unsigned providers; /* crypto providers that were open before */
	struct layout_group layout_before, home_before; /* of its number */
	struct arrival_port ports[DEVICE_ROLES];
};
