/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service group that changes, as the thread knows it that makes changes for its traffic: what is in
 * service, the numbers of its streams, and how many packets of each had arrived when nothing had changed yet.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/traffic_change.h"
#include "follow/stream_numbers.h"
#include "model/live/difference.h"
#include "model/live/live_group.h"

/* What had arrived of the packets of each stream at a time. */
struct follow_look {
	uint32_t *next; /* by stream: the number behind the last packet that had arrived */
	uint32_t *missing; /* of those before it */
};

#define FOLLOW_STREAM_COMES (1u << 31)

/* Streams of all modems, one behind the other. */
struct follow_set {
	uint32_t *streams; /* their numbers */
	uint32_t *first; /* by place of a modem, and of one beyond */
	uint32_t count;
};

/* Streams of one direction. */
struct follow_streams {
	struct stream_numbers numbers;
	struct follow_set sets[2];
	bool holds; /* which of them the traffic has; the other one is made */
	uint32_t modems; /* places */
	struct follow_look look; /* the latest that was before all changes which are not known */
	struct follow_look latest; /* a change may have been made before it */
	uint32_t looks; /* how many there were */
	uint32_t *born; /* by stream: how many there were when it began */
};

struct follow_group {
	struct traffic *traffic;
	struct live_group live;
	/* By place, of modems that differ from what the traffic has: */
	bool *changed; /* in anything but keys */
	bool *overtaken; /* so that packets may be lost which were under way */
	bool *rekeyed; /* in their keys */
	struct security_association *keys; /* by place: as the traffic has them */
	bool tables,
		rekeys; /* the traffic has not all that is in `live`: modems that are changed, rekeyed */
	bool gone; /* it has what is not there any more: what comes in its place is another */
	struct follow_streams downstream, upstream;
	struct traffic_change *given; /* to the traffic, and not freed */
};

/* Streams that a traffic of this group needs in its options, to follow it. */
uint32_t follow_room_downstream(const struct service_group *sg);
uint32_t follow_room_upstream(const struct service_group *sg);

/* For a traffic that was made with this configuration and room. Returns 0, or -1 after a message. To be freed by
 * follow_group_free() in either case. */
int follow_group_create(struct follow_group *g, const struct service_group *sg, struct traffic *t,
			uint64_t tsc_hz);

/* Ends it before traffic_free(), when nothing polls any more. */
void follow_group_free(struct follow_group *g);

/* Notes what has arrived. If no change was made before, follow_group_look_holds() says so afterwards. */
void follow_group_look(struct follow_group *g);
void follow_group_look_holds(struct follow_group *g);

/* Takes note of what the group is now, or with NULL that it is gone. Returns false after a message: it cannot be
 * followed there. */
bool follow_group_differs(struct follow_group *g, const struct service_group *next);

/* Takes note of changes that were found for `live`, and frees them. */
void follow_group_changes(struct follow_group *g, struct live_changes *changes);

static inline bool follow_group_dirty(const struct follow_group *g) {
	return g->tables || g->rekeys;
}

/* Offers the traffic all that it has not. Returns false after a message, or where no streams are free at
 * this time: to be tried again. */
bool follow_group_offer(struct follow_group *g, uint64_t now);

/* Frees what is over. Returns whether the traffic has taken all that was offered. */
bool follow_group_settle(struct follow_group *g);

/* Whether frames wait until it is known whether a change explains them. */
bool follow_group_waits(const struct follow_group *g);

/* All changes that were made before TSC `since` were offered and taken. */
void follow_group_known(struct follow_group *g, uint64_t since);
