/* SPDX-License-Identifier: BSD-3-Clause */
/* A group while it is prepared: group_add.c does everything that can fail, group_lifecycle.c puts it
 * into service. */
#pragma once

#include "server/group_lifecycle.h"

/* What was prepared on the group's port of one role. */
struct addition_port {
	bool joined;
	bool plugged; /* no other group uses the device */
	bool has_share; /* several groups, or a VLAN, share the port */
	bool made; /* the share was created for this group */
	bool read; /* the share's owner is to poll the port */
	bool ring;
	bool send_ring;
	unsigned descriptors; /* for which buffers are reserved */
	/* the new table; once the group is in service, the replaced one */
	struct share_table *table;
	struct server_port before; /* the port before this group joined, if it was open */
};

struct group_addition {
	struct server *server;
	const struct service_group *sg;
	unsigned group;
	char *why;
	struct shares_context site; /* includes this group */
	struct pool_needs needs; /* includes its ports */
	bool reserved;
	bool linear; /* the pool of linear copies was created for it */
	unsigned providers; /* number of crypto providers before */
	struct layout_group layout_before, planned_before; /* of its slot */
	struct addition_port ports[DEVICE_ROLES];
};
