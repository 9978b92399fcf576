/* SPDX-License-Identifier: BSD-3-Clause */
/* Capacities of a group's tables, which are allocated once: what the group uses, and a reserve. */
#include "model/live/live_capacity.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/keys/keys.h"
#include "model/live/live_index.h"
#include "model/live/live_kind.h"

#define MORE_OBJECTS 4 /* reserve beside the quarter, in lists other than modems */

static uint32_t capped(uint64_t count, uint32_t max) {
	return count < max ? (uint32_t)count : max;
}

struct group_capacity group_capacity_exact(const struct service_group *sg) {
	struct group_capacity capacity = {0};

	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (size_t i = 0; i < live_count(sg, o); i++)
			live_index_count(&capacity, o, live_item(sg, o, i), 1);
	}
	return capacity;
}

/* Adds a quarter and MORE_OBJECTS, up to `max`. */
static uint32_t quarter_more(uint32_t count, uint32_t max) {
	return capped(count + count / 4 + MORE_OBJECTS, max);
}

/* Extrapolates the present number per modem to `modems`, and adds `one_modem`, the most that a modem
 * may have. The sum of such capacities in live_index.c fits 32 bits. */
static uint32_t in_proportion(uint32_t count, const struct service_group *sg, uint32_t modems,
			      uint32_t one_modem) {
	uint64_t now = sg->modem_count > 0 ? sg->modem_count : 1;

	return capped(((uint64_t)count * modems + now - 1) / now + one_modem, UINT32_MAX / 8);
}

struct group_capacity group_capacity(const struct service_group *sg) {
	struct group_capacity capacity = group_capacity_exact(sg);
	uint32_t modems = capacity.modems + capacity.modems / 4 + 16;
	uint32_t max_flows = SG_MAX_MODEM_FLOWS, channels = capacity.upstream_channels;

	modems = sg->max_modems != 0 ? sg->max_modems : capped(modems, SG_MAX_MODEMS);
	capacity.flows = in_proportion(capacity.flows, sg, modems, max_flows);
	capacity.ipv4 = in_proportion(capacity.ipv4, sg, modems, SG_MAX_MODEM_ADDRESSES);
	capacity.ipv6 = in_proportion(capacity.ipv6, sg, modems, SG_MAX_MODEM_ADDRESSES);
	capacity.channels = quarter_more(capacity.channels, SG_MAX_CHANNELS);
	capacity.bonding_groups = quarter_more(capacity.bonding_groups, KEYS_MAX_GROUPS);
	capacity.filter_groups = quarter_more(capacity.filter_groups, KEYS_MAX_GROUPS);
	if (channels > 0) {
		/* The reserve of SIDs is for one modem with all flows on all channels. */
		capacity.upstream_channels = quarter_more(channels, SG_MAX_UPSTREAM_CHANNELS);
		capacity.upstream_flows =
			in_proportion(capacity.upstream_flows, sg, modems, max_flows);
		capacity.sids = in_proportion(capacity.sids, sg, modems,
					      max_flows * capacity.upstream_channels);
		capacity.sids = capped(capacity.sids, SG_MAX_SID * capacity.upstream_channels);
		capacity.streams = in_proportion(capacity.streams, sg, modems, max_flows);
		capacity.streams = capped(capacity.streams, capacity.sids);
	}
	capacity.modems = modems;
	return capacity;
}

bool live_capacity_suffices(const struct group_capacity *capacity,
			    const struct group_capacity *used, char why[LIVE_LINE]) {
	const struct {
		const char *list, *what;
		uint32_t found, allowed;
	} all[] = {
		{"modems", "modems", used->modems, capacity->modems},
		{"channels", "channels", used->channels, capacity->channels},
		{"bonding_groups", "bonding groups", used->bonding_groups,
		 capacity->bonding_groups},
		{"filter_groups", "filter groups", used->filter_groups, capacity->filter_groups},
		{"upstream_channels", "upstream channels", used->upstream_channels,
		 capacity->upstream_channels},
		{"modems", "service flows", used->flows, capacity->flows},
		{"modems", "IPv4 addresses", used->ipv4, capacity->ipv4},
		{"modems", "IPv6 addresses", used->ipv6, capacity->ipv6},
		{"modems", "upstream service flows", used->upstream_flows,
		 capacity->upstream_flows},
		{"modems", "SID clusters", used->streams, capacity->streams},
		{"modems", "SIDs", used->sids, capacity->sids},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].found <= all[i].allowed)
			continue;
		snprintf(why, LIVE_LINE,
			 "%s: found %" PRIu32 " %s, allowed: %" PRIu32
			 ", the capacity set at the start",
			 all[i].list, all[i].found, all[i].what, all[i].allowed);
		return false;
	}
	return true;
}
