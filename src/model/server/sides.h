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
