/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/steering_plan.h"

#include <stdlib.h>
#include <string.h>

#define SESSIONS 3 /* per upstream channel: data, requests, ranging */

/* What the other groups of a port have in common with the group. */
struct overlaps {
	bool in_vlan; /* some have its VLAN or, like it, none */
	bool mac_repeats; /* some of these have its MAC address */
	bool session_repeats; /* or one of its sessions */
};

static const uint8_t *mac_of(const struct service_group *sg, enum share_side side) {
	if (side == SHARE_RPHY)
		return sg->rphy.core_mac;
	return sg->network.has_mac ? sg->network.mac : NULL;
}

static unsigned sessions_of(const struct upstream_channel *c, uint32_t sessions[SESSIONS]) {
	const uint32_t all[SESSIONS] = {c->session, c->request_session, c->ranging_session};
	unsigned count = 0;

	for (unsigned i = 0; i < SESSIONS; i++) {
		if (all[i] != 0)
			sessions[count++] = all[i];
	}
	return count;
}

static bool has_session(const struct service_group *sg, uint32_t session) {
	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		const struct upstream_channel *channel = &sg->upstream_channels[c];

		if (channel->session == session || channel->request_session == session ||
		    channel->ranging_session == session)
			return true;
	}
	return false;
}

static bool have_common_session(const struct service_group *a, const struct service_group *b) {
	uint32_t sessions[SESSIONS];

	for (size_t c = 0; c < a->upstream_channel_count; c++) {
		unsigned count = sessions_of(&a->upstream_channels[c], sessions);

		for (unsigned i = 0; i < count; i++) {
			if (has_session(b, sessions[i]))
				return true;
		}
	}
	return false;
}

static struct overlaps find_overlaps(enum share_side side, const struct group_slots *groups,
				     unsigned group) {
	const struct service_group *sg = groups->list[group];
	const uint8_t *mac = mac_of(sg, side);
	struct overlaps n = {0};

	for (unsigned g = 0; g < groups->count; g++) {
		const struct service_group *other = groups->list[g];
		const uint8_t *its = other != NULL ? mac_of(other, side) : NULL;

		if (other == NULL || g == group ||
		    share_vlan_of(other, side) != share_vlan_of(sg, side))
			continue;
		n.in_vlan = true;
		n.mac_repeats |= mac != NULL && its != NULL && memcmp(mac, its, 6) == 0;
		n.session_repeats |= side == SHARE_RPHY && have_common_session(sg, other);
	}
	return n;
}

/* One rule per session. Rules of an added channel follow when it is in service. */
static unsigned plan_sessions(const struct service_group *sg, const struct flow_match *all,
			      struct flow_match *list) {
	unsigned count = 0;

	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		uint32_t sessions[SESSIONS];
		unsigned some = sessions_of(&sg->upstream_channels[c], sessions);

		for (unsigned i = 0; i < some; i++) {
			list[count] = *all;
			list[count].family = sg->rphy.core_ip.family;
			list[count++].session = sessions[i];
		}
	}
	return count;
}

unsigned steering_plan(enum share_side side, const struct group_slots *groups, unsigned group,
		       struct flow_match **list) {
	const struct service_group *sg = groups->list[group];
	struct overlaps n = find_overlaps(side, groups, group);
	struct flow_match all = {.vlan = share_vlan_of(sg, side)}, with_mac = all;
	const uint8_t *mac = mac_of(sg, side);
	unsigned count = 0;

	*list = calloc(SESSIONS * sg->upstream_channel_count + 1, sizeof(**list));
	if (*list == NULL)
		return 0;
	with_mac.by_mac = mac != NULL;
	if (mac != NULL)
		memcpy(with_mac.mac, mac, sizeof(with_mac.mac));
	if (all.vlan != 0 && !n.in_vlan)
		(*list)[count++] = all;
	else if (mac != NULL && !n.mac_repeats)
		(*list)[count++] = with_mac;
	else if (side == SHARE_RPHY)
		count = plan_sessions(sg, n.session_repeats ? &with_mac : &all, *list);
	if (count > 0)
		return count;
	free(*list);
	*list = NULL;
	return 0;
}

const char *steering_plan_name(const struct flow_match *match) {
	if (match->family != 0)
		return "session";
	return match->by_mac ? "MAC address" : "VLAN";
}
