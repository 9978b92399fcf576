/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/server/sides.h"

#include <string.h>

#include "model/devices.h"

bool side_same(const struct service_group *a, const struct service_group *b, enum side side) {
	const struct rphy_config *x = &a->rphy, *y = &b->rphy;

	if (side == SIDE_NETWORK)
		return device_same(a->network.device, b->network.device) &&
		       a->network.vlan == b->network.vlan &&
		       memcmp(a->network.mac, b->network.mac, sizeof(a->network.mac)) == 0;
	if (!device_same(a->rphy_port.device, b->rphy_port.device) ||
	    a->rphy_port.vlan != b->rphy_port.vlan)
		return false;
	if (side == SIDE_CORE)
		return memcmp(x->core_mac, y->core_mac, sizeof(x->core_mac)) == 0;
	return memcmp(x->rpd_mac, y->rpd_mac, sizeof(x->rpd_mac)) == 0 &&
	       memcmp(&x->rpd_ip, &y->rpd_ip, sizeof(x->rpd_ip)) == 0;
}

const char *side_device(const struct service_group *sg, enum side side) {
	return side == SIDE_NETWORK ? sg->network.device : sg->rphy_port.device;
}

const char *side_separating_keys(enum side side) {
	static const char *const differs[SIDES] = {
		[SIDE_NETWORK] = "vlan or mac",
		[SIDE_RPD] = "vlan, rpd_mac or rpd_ip",
		[SIDE_CORE] = "vlan or core_mac",
	};

	return differs[side];
}

void side_sessions(const struct upstream_channel *c, struct side_session sessions[SIDE_SESSIONS]) {
	sessions[0] = (struct side_session){SIDE_CORE, "session", c->session};
	sessions[1] = (struct side_session){SIDE_CORE, "request_session", c->request_session};
	sessions[2] = (struct side_session){SIDE_CORE, "ranging_session", c->ranging_session};
	/* MAPs go to the R-PHY device, like the sessions of downstream channels */
	sessions[3] = (struct side_session){SIDE_RPD, "map_session", c->grants.map_session};
}
