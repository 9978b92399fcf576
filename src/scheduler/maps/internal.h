/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upstream scheduler's data structures. A flow is owed bytes that it requested and was not
 * granted yet. It is then in the ring of its priority in its group: the set of channels of the SID
 * cluster that is served. A flow with a reserved rate is in the reserved queue as well. A flow that
 * waits for its rates is parked: it is in the group's parked ring and has a timer. A round makes the MAPs of all
 * channels that are due at the same time.
 */
#pragma once

#include "scheduler/maps/bucket.h"
#include "scheduler/maps/maps.h"
#include "scheduler/maps/timers.h"
#include "scheduler/ring.h"

#define QUANTUM 2048 /* bytes per flow and round */
/* A channel with less free takes no more grants in this MAP. Bytes of a new grant with its
 * header. */
#define MIN_GRANT MAPS_MIN_GRANT
/* A flow's grants stay on a channel until another one has 1/CHANNEL_HYSTERESIS of a MAP more free. */
#define CHANNEL_HYSTERESIS 16
#define MAX_LEAD 8 /* rounds to which the lead of a group is limited */
#define RESERVED MAPS_PRIORITIES
#define LEVELS (MAPS_PRIORITIES + 1)
#define SET_WORDS (MAPS_SETS / 64)
#define MAX_PINNED 128 /* grants at their own time in a MAP */
#define MAX_STATIONS 256 /* queued station maintenance opportunities */
#define MAP_BYTES_MAX MAPS_BYTES_MAX
#define TIME_END (UINT64_C(1) << 62) /* later times count as this one */
#define RESERVED_SAVED (MAPS_HZ / 100)

enum state { FLOW_UNUSED, FLOW_IDLE, FLOW_READY, FLOW_PARKED };

/* Rates of a flow. */
#define LIMIT_SUSTAINED 0x1
#define LIMIT_PEAK 0x2
#define LIMIT_RESERVED 0x4

/* State of a flow on one channel of one of its SID clusters. */
struct sid_state {
	uint16_t sid;
	uint16_t block; /* index of its latest grant on the channel */
};

/* Channels whose SIDs are in struct flow, for the first cluster. */
#define NEAR_CHANNELS 8

/* The first cache line of a flow is what a request touches. A grant touches the second one, too. */
struct flow {
	struct link link; /* in its class queue, or in the parked ring */
	struct link reserved; /* in the reserved queue */
	uint32_t owed; /* bytes requested and not granted, in all clusters */
	uint32_t owed_here; /* of these, in the current cluster */
	uint32_t credit; /* bytes left in this round; 0: a new quantum starts */
	uint32_t round; /* latest round in which it got a grant */
	uint32_t max; /* bytes of a grant without the header */
	uint16_t group;
	uint16_t queue; /* queue_index() of its class queue */
	uint8_t header;
	uint8_t cluster, clusters;
	uint8_t priority;
	uint8_t type;
	uint8_t limits;
	uint8_t state;
	bool is_reserved; /* in the reserved queue */
	uint8_t latest; /* channel of its latest grant in `round` */
	uint8_t request_channel; /* channel of its latest request */

	struct bucket sustained __attribute__((aligned(64)));
	struct sid_state sids[NEAR_CHANNELS];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct flow) == 128, "two cache lines");

/* Rates that few flows have. */
struct limits {
	struct bucket peak, reserved;
} __attribute__((aligned(64)));

/* Unsolicited grants and polls of a flow. */
struct service {
	uint64_t next; /* nominal time of the next one */
	uint64_t used; /* time of the latest data or request */
	uint32_t interval, poll_interval, timeout, jitter;
	uint32_t bytes;
	uint8_t grants;
	uint8_t channel;
	bool silent; /* polled */
};

struct class_queue {
	uint32_t first; /* ring of flows */
	uint32_t count, left; /* flows; of these, not served yet in this round */
	uint64_t round;
} __attribute__((aligned(32))); /* a power of two, as each request and grant computes an address */

/* A set of channels, and the flows whose current cluster has it. */
struct group {
	uint64_t channels; /* bit per channel */
	uint32_t users; /* SID clusters with this set; 0: the group is free */
	uint32_t round; /* in which `current` and `max` were set */
	uint32_t current; /* channel of new grants */
	uint32_t max; /* no other open channel has a higher key */
	uint32_t parked; /* ring of flows */
};

struct level {
	uint64_t active[SET_WORDS]; /* bit per group with flows */
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

/* An unsolicited grant at its own time: its earliest and latest minislot in the MAP. */
struct pinned {
	struct block block;
	uint32_t from, until;
};

/* Capacity is counted in minislots per 2^30 samples. */
#define COMMIT_UNIT (1u << 30)

/* The first cache line is what a data grant touches beside the list of grants. */
struct channel {
	/* In the MAP that is being made. */
	uint32_t free; /* minislots without use */
	uint32_t slots; /* elements without use */
	uint32_t blocks_count;
	uint32_t data_minislots, data_bytes; /* of data grants */
	/* Constant. */
	uint32_t elements; /* at most, per MAP */
	uint32_t min; /* minislots of a new grant of MIN_GRANT bytes */
	uint32_t max; /* minislots of a grant */
	uint64_t reciprocal; /* of minislot_bytes, 2^-40 */
	struct maps_channel set;
	uint32_t frames; /* per MAP */
	uint32_t minislots; /* per MAP */
	uint32_t length; /* samples per MAP */
	uint32_t split; /* minislots that a pinned grant within data costs at most */
	uint32_t requests_min; /* minislots for requests in each MAP */
	uint32_t opportunities_max; /* that contention adds to in a MAP */
	uint32_t early; /* frames of the ack delay */
	uint32_t cutoff; /* minislot up to which requests are answered without a MAP's delay */
	uint32_t limit, committed;
	uint32_t *used_sids; /* bit per SID */

	uint64_t number; /* of the next MAP, from the start on; in a layout, of the one after it */
	uint64_t initial_at; /* when the next initial maintenance is due */
	uint32_t contenders; /* estimate of modems that contend, in 1/16 */
	uint32_t collided; /* collided requests since the latest MAP */
	uint16_t stations[MAX_STATIONS];
	uint32_t station_first, station_count;

	/* The MAP that is being made. */
	uint32_t kept; /* free minislots for grants that are split; data get none of them */
	uint32_t initial, requests; /* minislots of these regions */
	uint32_t front; /* number of blocks before data */
	uint32_t pinned_count, pending_count;
	struct block blocks[MAP_ELEMENTS_5];
	struct pinned pinned[MAX_PINNED];
	uint16_t pending[MAP_ELEMENTS_5]; /* SIDs */
	struct maps_counts counts;
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct channel, set.burst_minislots) + sizeof(uint16_t) <= 64,
	       "all that a data grant touches is in the first cache line");

/* The part of a channel that a request touches. */
struct req_state {
	uint64_t acked; /* ack time of the latest MAP */
	uint64_t late;
	uint64_t verdicts[MAPS_VERDICTS];
	uint32_t contention_requests; /* requests in contention regions since the latest MAP */
} __attribute__((aligned(64)));

struct maps {
	uint32_t keys[MAPS_MAX_CHANNELS]; /* free_key() in the MAP that is being made */
	uint32_t margins[MAPS_MAX_CHANNELS]; /* differences of keys that do not count */
	uint64_t bounded; /* channels with a longest burst */
	uint64_t open; /* channels that still take data grants in this round */
	uint64_t in_round; /* channels of this round */
	uint64_t ready; /* channels whose MAP is still to be laid out */
	uint64_t now; /* time of the latest round */
	uint64_t due;
	uint64_t setback_limit; /* limit for a clock that was set back: two of the longest MAPs */
	uint64_t start;
	uint32_t round;
	uint32_t flow_bytes, flow_count, channel_count;
	bool started;
	uint32_t skipped_count;
	struct flow *flows;
	struct limits *limits; /* by flow */
	struct service *services; /* by flow */
	struct sid_state *sid_states; /* by cluster, flow and channel; not those in struct flow */
	uint32_t *committed; /* by flow and channel: capacity; see struct channel */
	uint16_t *cluster_groups; /* by flow and cluster */
	uint32_t *cluster_owed; /* by flow and cluster; not for the current cluster */
	uint32_t *skipped; /* flows that get no more in this round */
	uint32_t *sid_bits;
	struct channel *channels;
	struct req_state req_states[MAPS_MAX_CHANNELS +
				    1]; /* the last one is for requests without a channel */
	struct group groups[MAPS_SETS];
	struct class_queue queues[MAPS_SETS * LEVELS]; /* by queue_index() */
	struct level levels[LEVELS];
	uint64_t parking[SET_WORDS]; /* bit per group with parked flows */
	struct timers timers; /* three per flow */
	struct maps_counts counts; /* counts that belong to no channel */
};

static inline uint32_t queue_index(uint32_t group, uint32_t level) {
	return group * LEVELS + level;
}

enum timer_kind { TIMER_RATE, TIMER_RESERVED, TIMER_SERVICE, TIMER_KINDS };

static inline uint32_t timer_of(const struct maps *m, enum timer_kind kind, uint32_t flow) {
	return (uint32_t)kind * m->flow_count + flow;
}

static inline struct sid_state *sid_state_of(const struct maps *m, uint32_t flow, uint32_t cluster,
					     uint32_t channel) {
	size_t base = (size_t)cluster * m->flow_count + flow;

	if (cluster == 0 && channel < NEAR_CHANNELS)
		return &m->flows[flow].sids[channel];
	return &m->sid_states[base * m->channel_count + channel];
}

static inline uint32_t *committed_of(const struct maps *m, uint32_t flow, uint32_t channel) {
	return &m->committed[(size_t)flow * m->channel_count + channel];
}

/* Prefetches a cache line. gcc drops calls of a function that has no other effect, hence the
 * asm. */
static inline void fetch(const void *line) {
	__builtin_prefetch(line, 1);
	__asm__ volatile("");
}

/* Prefetches both cache lines of a flow. */
static inline void prefetch_flow(const struct maps *m, uint32_t flow) {
	fetch(&m->flows[flow]);
	fetch(&m->flows[flow].sustained);
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

/* Orders channels by free bytes in descending order, and then by index: the highest key is first. */
static inline uint32_t free_key(uint32_t channel, uint32_t bytes) {
	return bytes * MAPS_MAX_CHANNELS + (MAPS_MAX_CHANNELS - 1 - channel);
}
_Static_assert((uint64_t)MAP_BYTES_MAX * MAPS_MAX_CHANNELS * 2 <= UINT32_MAX,
	       "keys with margins fit");

/* Minislots for `bytes` without header and burst overhead. Exact below 2^23 bytes. */
static inline uint32_t minislots_for(const struct channel *c, uint32_t bytes) {
	return (uint32_t)((bytes + c->set.minislot_bytes - 1) * c->reciprocal >> 40);
}

/* The start of MAP `number` of a channel, and when it is due. */
static inline uint64_t map_start(const struct maps *m, const struct channel *c, uint64_t number) {
	return m->start + number * c->length;
}

static inline uint64_t map_due(const struct maps *m, const struct channel *c, uint64_t number) {
	uint64_t start = map_start(m, c, number);

	return start > c->set.lead ? start - c->set.lead : 0;
}

/* Whether elements are left for grants. The others are for pending grants. */
static inline bool slots_left(const struct channel *c) {
	return c->slots > c->elements / 8;
}

/* Consumes free minislots. Closes the channel if what is left is too little for a grant. */
static inline void channel_consume(struct maps *m, uint32_t channel, uint32_t minislots) {
	struct channel *c = &m->channels[channel];

	c->free -= minislots;
	m->keys[channel] -= minislots * c->set.minislot_bytes * MAPS_MAX_CHANNELS;
	if (c->free < c->min || !slots_left(c))
		m->open &= ~(UINT64_C(1) << channel);
}

/* settings.c. Each check returns a line that says what is wrong, or NULL. */
const char *check_config(const struct maps_config *config);
const char *check_flow(const struct maps *m, const struct maps_flow *settings);
void maps_channel_set(struct channel *c, const struct maps_channel *settings);

/* admit.c. Computes the capacity that a flow takes of each channel, and the channel of its
 * unsolicited grants or polls. Returns a line that says why there is not enough, or NULL. */
const char *admit(const struct maps *m, const struct maps_flow *s, uint32_t plan[MAPS_MAX_CHANNELS],
		  uint8_t *channel);
uint64_t proactive_bytes(const struct maps_flow *s); /* per grant */

/* rates.c; rates.h has what each grant calls */
void rates_set(struct maps *m, uint32_t flow, const struct maps_flow *s);
/* Parks a flow whose rates do not admit `bytes` until they do. */
void rates_wait(struct maps *m, uint32_t flow, uint32_t bytes);
/* The bytes that are due of the reserved rate, at most QUANTUM. 0: the flow leaves the reserved
 * queue until more are due. */
uint32_t rate_reserved(struct maps *m, uint32_t flow);
void rates_charge(struct maps *m, uint32_t flow, uint32_t bytes); /* peak and reserved rate */

/* lists.c; lists.h has what each request and grant calls */
void group_rejoin(struct maps *m, uint32_t group, uint32_t level); /* as its queue has a flow */
void group_rest(struct maps *m, uint32_t group, uint32_t level); /* as its queue is empty */
void reserved_join(struct maps *m, uint32_t flow); /* the reserved queue */
void reserved_leave(struct maps *m, uint32_t flow);
void reserved_stop(struct maps *m, uint32_t flow); /* leaves the reserved queue, and its timer */
void flow_park(struct maps *m, uint32_t flow, uint64_t until); /* until this time of the timers */
void flow_unpark(struct maps *m, uint32_t flow); /* leaves the parked ring, and its timer */
void flow_switch(struct maps *m, uint32_t flow); /* to the next cluster that is owed bytes */

/* service.c */
void service_begin(struct maps *m, uint32_t flow, const struct maps_flow *settings, uint64_t now);
/* Data or a request of the flow was received at `now`: silent UGS-AD gets grants again. */
void service_note_activity(struct maps *m, uint32_t flow, uint64_t now);
/* The flow's timer expired: adds its grants and polls of the MAP that is being made. */
void service_run(struct maps *m, uint32_t flow);
/* The clock was set back to `now`, and the channel's next MAP starts at `start` instead of `before`.
 * Keeps the time until the next grant or poll. */
void service_move(struct maps *m, uint32_t flow, uint64_t before, uint64_t start, uint64_t now);

/* follow.c */
void channel_start(struct maps *m, uint32_t channel, uint64_t now); /* at the first MAP in time */
void follow_back(struct maps *m, uint64_t now); /* after a clock was set back; between rounds */

/* opening.c. The elements of a MAP before data, sized by the estimated contention. */
void channel_open(struct maps *m, uint32_t channel);
void channel_begin_data(struct maps *m, uint32_t channel);
void channel_end_data(struct maps *m, uint32_t channel);

/* assign.c. Grants a flow up to `want` bytes on channels of its group. Returns how many. */
uint32_t assign(struct maps *m, uint32_t flow, struct group *g, uint32_t want);
/* Adds a block before data. Returns false if minislots or elements are exhausted. */
bool front_block(struct maps *m, uint32_t channel, const struct block *b);

/* share.c, pending.c, lay_out.c */
void share(struct maps *m);
void add_pending(struct maps *m);
void lay_out(struct maps *m, uint32_t channel, struct map *out);
