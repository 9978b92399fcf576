/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the upstream scheduler is made of. A flow that is owed something stands in the ring of its priority's
 * column in its group, which is the set of channels of the cluster that has its turn; one with a reserved rate
 * stands in the reserved column as well. One whose rates hold it back stands among the group's blocked ones
 * and has a timer. A round makes the MAPs of all channels that are due at the same time.
 */
#pragma once

#include "scheduler/maps/bucket.h"
#include "scheduler/maps/maps.h"
#include "scheduler/maps/timers.h"
#include "scheduler/ring.h"

#define TURN 2048 /* bytes of a flow's turn */
/* A channel with less room takes no more grants in this MAP: bytes of a new grant, its header among them. */
#define SMALLEST MAPS_LEAST_GRANT
/* Grants stay together until another channel has this part of a MAP's bytes more free. */
#define NEAR 16
#define MAX_LEAD 8 /* rounds that count where a group is further ahead of the one behind it */
#define RESERVED MAPS_PRIORITIES
#define LEVELS (MAPS_PRIORITIES + 1)
#define SET_WORDS (MAPS_SETS / 64)
#define MAX_PINNED 128 /* grants at their own time in a MAP */
#define MAX_STATIONS 256 /* that wait */
#define MAP_BYTES_MOST MAPS_BYTES_MOST
#define TIME_END (UINT64_C(1) << 62) /* later times count as this one */
#define RESERVED_SAVED (MAPS_HZ / 100)

enum state { FLOW_UNUSED, FLOW_IDLE, FLOW_READY, FLOW_BLOCKED };

/* Which rates a flow has. */
#define LIMIT_SUSTAINED 0x1
#define LIMIT_PEAK 0x2
#define LIMIT_RESERVED 0x4

/* What requests and rounds touch: a cache line. */
struct flow {
	struct link link; /* in its column, or among the blocked */
	struct link reserved; /* in the reserved column */
	uint32_t owed; /* in all clusters */
	uint32_t here; /* in the one that has its turn */
	uint32_t credit; /* bytes left of its turn; 0: a new one begins */
	uint32_t round; /* the latest in which it was granted something */
	uint32_t most; /* bytes of a grant without the header */
	uint16_t group;
	uint8_t header;
	uint8_t cluster, clusters;
	uint8_t priority;
	uint8_t type;
	uint8_t limits;
	uint8_t state;
	bool is_reserved; /* stands in the reserved column */
	uint8_t latest; /* channel of its latest grant in `round` */
	uint8_t heard; /* channel of its latest request */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct flow) == 64, "a cache line");

struct limits {
	struct bucket sustained, peak, reserved;
} __attribute__((aligned(64)));

/* Grants without requests, and polls: when, of how much. */
struct service {
	uint64_t next; /* nominal time of the next */
	uint64_t used; /* when data or a request came last */
	uint32_t interval, poll_interval, timeout, jitter;
	uint32_t bytes;
	uint8_t grants;
	uint8_t channel;
	bool silent; /* is polled */
};

/* A flow on one channel of one of its clusters. */
struct seat {
	uint16_t sid;
	uint16_t block; /* its latest grant on the channel */
	uint32_t committed; /* see struct channel */
};

struct column {
	uint32_t first; /* ring of flows */
	uint32_t count, left; /* flows, and turns left of this round */
	uint64_t round;
};

/* A set of channels, and the flows whose cluster has its turn there. */
struct group {
	uint64_t channels; /* a bit each */
	uint32_t users; /* clusters of flows; 0: it is free */
	uint32_t round; /* in which what follows was found */
	uint32_t current; /* channel that new grants go to, */
	uint32_t most; /* and no channel has more room */
	uint32_t blocked; /* ring */
	struct column columns[LEVELS];
};

struct level {
	uint64_t active[SET_WORDS]; /* groups with flows */
	uint64_t served; /* round of the group that was served last */
};

enum block_kind { BLOCK_STATION, BLOCK_POLL, BLOCK_UNSOLICITED, BLOCK_DATA };

struct block {
	uint32_t flow;
	uint32_t bytes;
	uint16_t sid;
	uint16_t minislots;
	uint8_t kind;
	uint8_t cluster;
	uint8_t header;
};

/* An unsolicited grant at its own time: minislots of the MAP at the earliest and at the latest. */
struct pinned {
	struct block block;
	uint32_t from, until;
};

/* Capacity that was promised counts in minislots in 2^30 samples. */
#define COMMIT_UNIT (1u << 30)

struct channel {
	struct maps_channel set;
	uint32_t frames; /* that a MAP describes, */
	uint32_t minislots; /* its minislots, */
	uint32_t elements; /* the most that it may have, */
	uint32_t length; /* and its samples */
	uint32_t least; /* minislots for a new grant of SMALLEST */
	uint32_t most; /* minislots of a grant */
	uint64_t reciprocal; /* of minislot_bytes, 2^-40 */
	uint32_t
		split; /* minislots that it costs at most to have something in between at its own time */
	uint32_t requests_least; /* minislots for requests in each MAP */
	uint32_t limit, committed;
	uint32_t *taken; /* SIDs, a bit each */

	uint64_t
		number; /* of the next MAP, from 0 at the start; while it is laid out: of the one after it */
	uint64_t initial_at; /* when the next initial maintenance is due */
	uint32_t contenders; /* modems that seem to contend, in 1/16 */
	uint32_t collided; /* requests, since the latest MAP */
	uint16_t stations[MAX_STATIONS];
	uint32_t station_first, station_count;

	/* The MAP being made. */
	uint32_t free; /* minislots that nothing has yet */
	uint32_t
		kept; /* of these, for grants that are cut in two; where there are less, there are no grants */
	uint32_t slots; /* elements that nothing has yet */
	uint32_t initial, requests; /* minislots of these regions */
	uint32_t front; /* of the blocks, those before data */
	uint32_t blocks_count, pinned_count, pending_count;
	struct block blocks[MAP_ELEMENTS_5];
	struct pinned pinned[MAX_PINNED];
	uint16_t pending[MAP_ELEMENTS_5]; /* SIDs */
	struct maps_counts counts;
};

/* What a request touches of the channel where it was heard. */
struct ear {
	uint64_t acked; /* time before which a MAP has answered for requests */
	uint64_t late;
	uint64_t verdicts[MAPS_VERDICTS];
	uint32_t heard; /* in contention, since the latest MAP */
} __attribute__((aligned(64)));

struct maps {
	uint32_t room[MAPS_MAX_CHANNELS]; /* bytes that are free in the MAP being made */
	uint32_t margins
		[MAPS_MAX_CHANNELS]; /* bytes that do not matter beside those of other channels */
	uint64_t bounded; /* channels with a longest burst */
	uint64_t open; /* channels that take data grants in this round */
	uint64_t in_round; /* channels of it */
	uint64_t ready; /* those whose MAP is still to be laid out */
	uint64_t now; /* time of the latest round */
	uint64_t due;
	uint64_t patience; /* with a clock that has gone back: two of the longest MAPs */
	uint64_t start;
	uint32_t round;
	uint32_t flow_bytes, flow_count, channel_count;
	bool started;
	uint32_t aside_count;
	struct flow *flows;
	struct limits *limits; /* one a flow */
	struct service *services; /* one a flow */
	struct seat *seats; /* by cluster, flow, channel */
	uint16_t *cluster_groups; /* by flow and cluster */
	uint32_t *cluster_owed; /* by flow and cluster, but for the one that has its turn */
	uint32_t *aside; /* flows that may have no more in this round */
	uint32_t *sid_bits;
	struct channel *channels;
	struct ear
		ears[MAPS_MAX_CHANNELS + 1]; /* the last one of requests that were heard nowhere */
	struct group groups[MAPS_SETS];
	struct level levels[LEVELS];
	struct timers timers; /* three a flow */
	struct maps_counts counts; /* of what belongs to no channel */
};

enum timer_kind { TIMER_RATE, TIMER_RESERVED, TIMER_SERVICE, TIMER_KINDS };

static inline uint32_t timer_of(const struct maps *m, enum timer_kind kind, uint32_t flow) {
	return (uint32_t)kind * m->flow_count + flow;
}

static inline struct seat *seat_of(const struct maps *m, uint32_t flow, uint32_t cluster,
				   uint32_t channel) {
	size_t row = (size_t)cluster * m->flow_count + flow;

	return &m->seats[row * m->channel_count + channel];
}

/* Has a line fetched that is needed soon. (gcc leaves out calls of a function that does only that.) */
static inline void fetch(const void *line) {
	__builtin_prefetch(line, 1);
	__asm__ volatile("");
}

static inline uint32_t lesser(uint32_t a, uint32_t b) {
	return a < b ? a : b;
}

static inline uint32_t first_bit(uint64_t bits) {
	return (uint32_t)__builtin_ctzll(bits);
}

static inline bool has_bit(uint64_t bits, uint32_t i) {
	return bits >> i & 1;
}

/* Minislots for so many bytes, header and burst overhead not counted: exact below 2^23 bytes. */
static inline uint32_t minislots_for(const struct channel *c, uint32_t bytes) {
	return (uint32_t)((bytes + c->set.minislot_bytes - 1) * c->reciprocal >> 40);
}

/* When MAP `number` of a channel begins, and when it is due. */
static inline uint64_t map_start(const struct maps *m, const struct channel *c, uint64_t number) {
	return m->start + number * c->length;
}

static inline uint64_t map_due(const struct maps *m, const struct channel *c, uint64_t number) {
	uint64_t start = map_start(m, c, number);

	return start > c->set.lead ? start - c->set.lead : 0;
}

/* settings.c: a line about what is wrong, or NULL. */
const char *check_config(const struct maps_config *config);
const char *check_flow(const struct maps *m, const struct maps_flow *settings);
void maps_channel_set(struct channel *c, const struct maps_channel *settings);

/* admit.c: what of the capacity of channels a flow's settings take, by index, or why they cannot be met. The
 * channel of its unsolicited grants or polls is told, too. */
const char *admit(const struct maps *m, const struct maps_flow *s, uint32_t plan[MAPS_MAX_CHANNELS],
		  uint8_t *channel);
uint64_t proactive_bytes(const struct maps_flow *s); /* of a grant */

/* rates.c */
void rates_set(struct maps *m, uint32_t flow, const struct maps_flow *s);
/* Of `want` bytes, what the flow's rates let it have now; 0: it has been blocked until they do. */
uint32_t rate_allowed(struct maps *m, uint32_t flow, uint32_t want);
/* What is due to the flow of its reserved rate, a turn at most; 0: it has left the column until more is. */
uint32_t rate_reserved(struct maps *m, uint32_t flow);
/* Of what it is owed in this cluster it has got so much. */
void flow_charge(struct maps *m, uint32_t flow, uint32_t bytes);

/* lists.c */
void list_join(struct maps *m, uint32_t flow, uint32_t level);
void list_leave(struct maps *m, uint32_t flow, uint32_t level);
void flow_ready(struct maps *m, uint32_t flow); /* to all columns that it is for */
void flow_block(struct maps *m, uint32_t flow, uint64_t until);
void flow_rest(struct maps *m, uint32_t flow); /* out of all */
void flow_turn(struct maps *m, uint32_t flow); /* to the next cluster that is owed something */

/* service.c */
void service_begin(struct maps *m, uint32_t flow, const struct maps_flow *settings, uint64_t now);
void service_use(struct maps *m, uint32_t flow, uint64_t now);
void service_run(struct maps *m, uint32_t flow);
/* The next MAP of its channel is at `start` instead of `before`, and the time is `now`. */
void service_move(struct maps *m, uint32_t flow, uint64_t before, uint64_t start, uint64_t now);

/* follow.c */
void channel_start(struct maps *m, uint32_t channel,
		   uint64_t now); /* its next MAP is the first that can be in time */
void follow_back(struct maps *m,
		 uint64_t now); /* after a clock that has gone back, between rounds */

/* opening.c: what a MAP has before data, and the contention that it is for. */
void channel_open(struct maps *m, uint32_t channel);
void channel_begin_data(struct maps *m, uint32_t channel);
void channel_end_data(struct maps *m, uint32_t channel);

/* place.c: gives a flow up to `want` bytes on channels of its group; returns how many. */
uint32_t place(struct maps *m, uint32_t flow, struct group *g, uint32_t want);
void channel_took(struct maps *m, uint32_t channel, uint32_t minislots); /* of its free ones */
bool front_block(struct maps *m, uint32_t channel, const struct block *b);
bool slots_left(const struct channel *c); /* for grants; the others are for those who wait */

/* share.c, pending.c, lay_out.c */
void share(struct maps *m);
void tell_pending(struct maps *m);
void lay_out(struct maps *m, uint32_t channel, struct map *out);
