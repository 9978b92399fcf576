/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/live_room.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/keys/keys.h"
#include "model/live/live_index.h"
#include "model/live/live_kind.h"

#define MORE_OBJECTS 4 /* at least, of a kind that the group uses */

static uint32_t least(uint64_t a, uint64_t b) {
	return (uint32_t)(a < b ? a : b);
}

struct group_room group_room_exact(const struct service_group *sg) {
	struct group_room room = {0};

	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (size_t i = 0; i < live_count(sg, o); i++)
			live_index_count(&room, o, live_item(sg, o, i), 1);
	}
	return room;
}

/* A quarter more, and a few for small counts. */
static uint32_t quarter_more(uint32_t count, uint32_t most) {
	return least(count + count / 4 + MORE_OBJECTS, most);
}

/* As many per modem as now, and as many more as the largest modem may have. */
static uint32_t in_proportion(uint32_t count, const struct service_group *sg, uint32_t modems,
			      uint32_t largest) {
	uint64_t now = sg->modem_count > 0 ? sg->modem_count : 1;

	return least(((uint64_t)count * modems + now - 1) / now + largest, UINT32_MAX / 8);
}

struct group_room group_room(const struct service_group *sg) {
	struct group_room room = group_room_exact(sg);
	uint32_t modems = room.modems + room.modems / 4 + 16;
	uint32_t flows = SG_MAX_MODEM_FLOWS, channels = room.upstream_channels;

	modems = sg->max_modems != 0 ? sg->max_modems : least(modems, SG_MAX_MODEMS);
	room.flows = in_proportion(room.flows, sg, modems, flows);
	room.ipv4 = in_proportion(room.ipv4, sg, modems, SG_MAX_MODEM_ADDRESSES);
	room.ipv6 = in_proportion(room.ipv6, sg, modems, SG_MAX_MODEM_ADDRESSES);
	room.channels = quarter_more(room.channels, SG_MAX_CHANNELS);
	room.bonding_groups = quarter_more(room.bonding_groups, KEYS_MAX_GROUPS);
	room.filter_groups = quarter_more(room.filter_groups, KEYS_MAX_GROUPS);
	if (channels > 0) {
		/* SIDs on all channels for each flow of the largest modem; each is unique per
		 * channel */
		room.upstream_channels = quarter_more(channels, SG_MAX_UPSTREAM_CHANNELS);
		room.upstream_flows = in_proportion(room.upstream_flows, sg, modems, flows);
		room.sids = in_proportion(room.sids, sg, modems, flows * room.upstream_channels);
		room.sids = least(room.sids, SG_MAX_SID * room.upstream_channels);
		room.streams = in_proportion(room.streams, sg, modems, flows);
		room.streams = least(room.streams, room.sids);
	}
	room.modems = modems;
	return room;
}

bool live_room_suffices(const struct group_room *room, const struct group_room *used,
			char why[LIVE_LINE]) {
	const struct {
		const char *list, *what;
		uint32_t found, allowed;
	} all[] = {
		{"modems", "modems", used->modems, room->modems},
		{"channels", "channels", used->channels, room->channels},
		{"bonding_groups", "bonding groups", used->bonding_groups, room->bonding_groups},
		{"filter_groups", "filter groups", used->filter_groups, room->filter_groups},
		{"upstream_channels", "upstream channels", used->upstream_channels,
		 room->upstream_channels},
		{"modems", "service flows", used->flows, room->flows},
		{"modems", "IPv4 addresses", used->ipv4, room->ipv4},
		{"modems", "IPv6 addresses", used->ipv6, room->ipv6},
		{"modems", "upstream service flows", used->upstream_flows, room->upstream_flows},
		{"modems", "SID clusters", used->streams, room->streams},
		{"modems", "SIDs", used->sids, room->sids},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].found <= all[i].allowed)
			continue;
		snprintf(why, LIVE_LINE,
			 "%s: found %" PRIu32 " %s, allowed: %" PRIu32
			 ", for which there is room since the start",
			 all[i].list, all[i].found, all[i].what, all[i].allowed);
		return false;
	}
	return true;
}
