/* SPDX-License-Identifier: BSD-3-Clause */
/* A service group in service as the control thread sees it: lists of fixed capacity, whose objects
 * keep their slots (docs/decisions/009-live-change.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/service_group.h"

#define LIVE_LINE 1024 /* bytes of a message that refuses a change: one line per mistake */
#define LIVE_FREE_ID UINT32_MAX /* in a free slot of filter groups */

/* The capacity of a group for each kind of objects: slots in use and free ones. */
struct group_capacity {
	uint32_t modems;
	uint32_t channels, bonding_groups, filter_groups, upstream_channels;
	uint32_t flows; /* downstream service flows of all modems */
	uint32_t ipv4, ipv6; /* addresses of all modems */
	uint32_t upstream_flows;
	uint32_t streams; /* SID clusters of all upstream flows */
	uint32_t sids; /* of all clusters */
};

/* The capacity that the group uses now, for a group that never changes. */
struct group_capacity group_capacity_exact(const struct service_group *sg);

/* The capacity with a reserve for changes: `max_modems`, by default a quarter and 16 more modems.
 * Their flows, addresses and SIDs grow in proportion, the other lists by a quarter and 4. */
struct group_capacity group_capacity(const struct service_group *sg);

/* Whether the slot has an object. */
static inline bool modem_exists(const struct modem *m) {
	return m->service_flow_count > 0;
}

static inline bool channel_exists(const struct channel *c) {
	return c->session != 0;
}

static inline bool upstream_channel_exists(const struct upstream_channel *c) {
	return c->session != 0;
}

static inline bool bonding_group_exists(const struct bonding_group *g) {
	return g->channel_count > 0;
}

static inline bool filter_group_exists(const struct filter_group *g) {
	return g->id != LIVE_FREE_ID;
}

/* The modem of a group in service with this MAC address; NULL if there is none. */
const struct modem *modem_by_mac(const struct service_group *sg, const uint8_t mac[6]);

enum live_object {
	LIVE_GROUP, /* single values of the group: rate_limit, cpe_timeout */
	LIVE_CHANNEL,
	LIVE_UPSTREAM_CHANNEL,
	LIVE_BONDING_GROUP,
	LIVE_FILTER_GROUP,
	LIVE_MODEM,
	LIVE_OBJECTS,
};

struct live_group {
	/* Its list lengths are those of `capacity`; references are slots. Each object has one block
	 * of memory; the arena owns the rest. */
	struct service_group sg;
	struct group_capacity capacity;
	uint32_t modems; /* number in service */
	/* Only src/model/live uses the members from here on. */
	void **blocks[LIVE_OBJECTS]; /* by slot; NULL: the slot is free */
	uint32_t first_free[LIVE_OBJECTS]; /* the lowest free slot; the capacity: none is free */
	struct live_index *index; /* of unique values, see live_index.h */
};

/*
 * Copies all of `sg`, objects into the slots 0, 1, .. of its lists. Returns 0; or -1 with the
 * reason in `why` if memory is short or `capacity` is less than `sg` uses. The caller calls
 * live_group_free() in either case.
 */
int live_group_create(struct live_group *l, const struct service_group *sg,
		      const struct group_capacity *capacity, char why[LIVE_LINE]);

/* Accepts a zeroed struct, and a second call. */
void live_group_free(struct live_group *l);
