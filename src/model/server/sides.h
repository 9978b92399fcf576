/* SPDX-License-Identifier: BSD-3-Clause */
/* A side of groups: a set of groups whose packets differ only in addresses or sessions. */
#pragma once

#include <stdbool.h>

#include "model/service_group.h"

enum side {
	SIDE_NETWORK, /* device, VLAN, destination MAC address */
	SIDE_RPD, /* device, VLAN, R-PHY device: sessions towards it */
	SIDE_CORE, /* device, VLAN, MAC address of the core: sessions from the R-PHY device */
	SIDES,
};

/* Whether both groups are on one side. */
bool side_same(const struct service_group *a, const struct service_group *b, enum side side);

/* The device of the group on that side. */
const char *side_device(const struct service_group *sg, enum side side);

/* The keys that put groups of one device on different sides: "vlan or mac". */
const char *side_separating_keys(enum side side);

/* An L2TPv3 session of an upstream channel, and the side on which it must be unique. */
struct side_session {
	enum side side;
	const char *key; /* in the channel's map of a file */
	uint32_t session; /* 0: the channel has none */
};

/* All sessions of a channel, in the order of a file. Files and changes in service use this list, so
 * that both compare the same values. */
#define SIDE_SESSIONS 4
void side_sessions(const struct upstream_channel *c, struct side_session sessions[SIDE_SESSIONS]);
