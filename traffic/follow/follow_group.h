/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service group that changes, as seen by the thread that prepares changes for its traffic: its
 * configuration in service, its stream numbers, and how far each stream had been received before a change.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/traffic_change.h"
#include "follow/stream_numbers.h"
#include "model/live/difference.h"
#include "model/live/live_group.h"

/* How far each stream had been received at one time. */
struct follow_sample {
	uint32_t *next; /* by stream: number after the last received packet */
	uint32_t *missing; /* by stream: missing numbers before it */
};

/* Streams of all modems, in the order of the modems. */
struct follow_set {
	uint32_t *streams; /* stream numbers */
	uint32_t *first; /* by modem index, plus one element at the end: offset in `streams` */
	uint32_t count;
};

/* Streams of one direction. */
struct follow_streams {
	struct stream_numbers numbers;
	struct follow_set sets[2];
	/* index of the set that the traffic uses; the other one is for the next change */
	bool current;
	uint32_t modems; /* capacity of modems */
	/* the latest valid one: it precedes every change that the traffic lacks */
	struct follow_sample sample;
	struct follow_sample latest; /* not valid yet: a change may precede it */
	uint32_t samples; /* number of valid samples */
	uint32_t *first_sample; /* by stream: value of `samples` when it started */
	/* TOS rewrites that the server used and replaced since the latest offer; packets under way may show them */
	struct rewrite_between *between;
	uint32_t between_count;
};

struct follow_group {
	struct traffic *traffic;
	struct live_group live;
	/* By modem index, since the latest offer: */
	bool *changed; /* needs new tables: it or an object that it uses differs, or none of its keys remains */
	bool *overtaken; /* a change overtakes its packets under way, which may be lost */
	bool *rekeyed; /* a change affected its keys only */
	struct security_association *keys; /* by modem index: keys that the traffic uses */
	bool tables; /* the traffic lacks changes of modems that are `changed` */
	bool rekeys; /* the traffic lacks new keys of modems that are `rekeyed` */
	/* A modem of the traffic was removed, or differs in more than headers and keys. The caller must
	 * offer that before it records later events: a modem that is added again restarts. */
	bool must_apply;
	struct follow_streams downstream, upstream;
	struct traffic_change *offered; /* offered to the traffic and not freed */
};

/* Capacity of streams that a traffic needs in its options to follow this group. */
uint32_t follow_capacity_downstream(const struct service_group *sg);
uint32_t follow_capacity_upstream(const struct service_group *sg);

/* Follows with a traffic that was created with this configuration and capacity. Returns 0, or -1
 * after a message. The caller frees it with follow_group_free() in either case. */
int follow_group_create(struct follow_group *g, const struct service_group *sg, struct traffic *t,
			uint64_t tsc_hz);

/* Must be called before traffic_free(), when no thread polls any more. */
void follow_group_free(struct follow_group *g);

/* Records how far each stream was received. The caller then reads all events. It calls
 * follow_group_sample_valid() only if they report no change before the sample. Only valid samples prove that a
 * packet arrived before a change. */
void follow_group_sample(struct follow_group *g);
void follow_group_sample_valid(struct follow_group *g);

/* Records the differences to the new configuration `next`, or NULL if the group was removed.
 * Returns false after a message if the group cannot be followed. */
bool follow_group_differs(struct follow_group *g, const struct service_group *next);

/* Records changes that were found for `live`, and frees them. */
void follow_group_changes(struct follow_group *g, struct live_changes *changes);

static inline bool follow_group_has_differences(const struct follow_group *g) {
	return g->tables || g->rekeys;
}

/* Offers recorded differences, of which there must be some, at TSC `now`. A call offers changes of keys alone, if any;
 * the next call offers the rest. The traffic must have applied the previous offer. The caller repeats this until
 * follow_group_has_differences() is false. Returns false if memory is short or no stream number is free, in some
 * cases without a message. The differences then stay recorded, and the caller tries again later. */
bool follow_group_offer(struct follow_group *g, uint64_t now);

/* Frees changes that are done. Returns whether the traffic has applied all offered changes. */
bool follow_group_settle(struct follow_group *g);

/* Whether frames are unresolved. */
bool follow_group_unresolved(const struct follow_group *g);

/* Tells the traffic that it lacks no change made before TSC `since`. Unresolved frames that arrived before
 * `since` then get their verdict. */
void follow_group_confirm(struct follow_group *g, uint64_t since);
