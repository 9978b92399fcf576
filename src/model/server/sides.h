/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes a side of groups: those whose packets nothing but addresses or sessions tell apart. */
#pragma once

#include <stdbool.h>

#include "model/service_group.h"

enum side {
	SIDE_NETWORK, /* device, VLAN, destination MAC address */
	SIDE_RPD, /* device, VLAN, R-PHY device: sessions that we send */
	SIDE_CORE, /* device, VLAN, our MAC address: sessions that we receive */
	SIDES,
};

/* Are both groups on one side? */
bool side_same(const struct service_group *a, const struct service_group *b, enum side side);

/* Of a side of the group: its device. */
const char *side_device(const struct service_group *sg, enum side side);

/* What groups of one device may have to be on several sides: "vlan or mac". */
const char *side_otherwise(enum side side);

/* An L2TPv3 session of an upstream channel: the side of the group on which it must differ from those of others. */
struct side_session {
	enum side side;
	const char *key; /* of the channel in a file */
	uint32_t session; /* 0: the channel has none */
};

/* All that a channel has, in the order of a file. What is compared between groups is the same for a file and for a change
 * in service. */
#define SIDE_SESSIONS 4
void side_sessions(const struct upstream_channel *c, struct side_session sessions[SIDE_SESSIONS]);
