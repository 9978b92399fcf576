/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service group in service as the control thread knows it: lists with room, whose objects keep their
 * places while they live (docs/decisions/009-live-change.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/service_group.h"

#define LIVE_LINE 384 /* what is said of a refusal */
#define LIVE_FREE_ID UINT32_MAX /* of a filter group's place that is free */

/* Places of each kind that a group has, free ones included. */
struct group_room {
	uint32_t modems;
	uint32_t channels, bonding_groups, filter_groups, upstream_channels;
	uint32_t flows; /* downstream service flows of all modems */
	uint32_t ipv4, ipv6; /* addresses of all modems */
	uint32_t upstream_flows;
	uint32_t streams; /* SID clusters of all upstream flows */
	uint32_t sids; /* of all clusters */
};

/* No more than the group has: for a group that never changes. */
struct group_room group_room_exact(const struct service_group *sg);

/* With room for changes: `max_modems`, or where it is not given a quarter more modems and 16; of all else in
 * proportion. */
struct group_room group_room(const struct service_group *sg);

/* Whether something is in a place. */
static inline bool modem_is_there(const struct modem *m) {
	return m->service_flow_count > 0;
}

static inline bool channel_is_there(const struct channel *c) {
	return c->session != 0;
}

static inline bool upstream_channel_is_there(const struct upstream_channel *c) {
	return c->session != 0;
}

static inline bool bonding_group_is_there(const struct bonding_group *g) {
	return g->channel_count > 0;
}

static inline bool filter_group_is_there(const struct filter_group *g) {
	return g->id != LIVE_FREE_ID;
}

/* The modem of a group in service that has this MAC address; NULL: none has. */
const struct modem *modem_by_mac(const struct service_group *sg, const uint8_t mac[6]);

enum live_object {
	LIVE_GROUP, /* what the group has but once: rate_limit, cpe_timeout */
	LIVE_CHANNEL,
	LIVE_UPSTREAM_CHANNEL,
	LIVE_BONDING_GROUP,
	LIVE_FILTER_GROUP,
	LIVE_MODEM,
	LIVE_OBJECTS,
};

struct live_group {
	/* Its list lengths are those of `room`; references are places. Objects own one block of memory each; all
	 * else is its arena's. */
	struct service_group sg;
	struct group_room room;
	uint32_t modems; /* that are there */
	/* For src/model/live alone. */
	void **blocks[LIVE_OBJECTS]; /* of each place; NULL: it is free */
	uint32_t first_free[LIVE_OBJECTS]; /* the lowest place that is free; the room: none is */
	struct live_index *index; /* of what must be unique, see live_index.h */
};

/*
 * Copies all of `sg`, objects in the places 0, 1, .. of its lists. Returns 0; or -1 with the reason in `why` when
 * memory is short or `room` less than what there is. To be freed by live_group_free() in either case.
 */
int live_group_create(struct live_group *l, const struct service_group *sg,
		      const struct group_room *room, char why[LIVE_LINE]);

/* Harmless on a zeroed struct, and twice. */
void live_group_free(struct live_group *l);
