/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduler's data structures. A packet is in a chunk of its flow's queue, the flow in the ring
 * of its class, the class in a class queue of its bonding group. The group is among the awake
 * groups of its cluster, and the cluster in the ring of clusters with awake groups.
 *
 * A flow, class, group or cluster that must not send for a while leaves these lists. A parked flow
 * has a timer. A blocked class is in a list of its modem, which has a timer. A sleeping group is
 * behind the awake ones of its cluster. A cluster whose groups all sleep has a timer.
 */
#pragma once

#include "scheduler/aqm.h"
#include "scheduler/report.h"
#include "scheduler/ring.h"
#include "scheduler/scheduler.h"
#include "scheduler/ticks.h"
#include "scheduler/wheel.h"

/* Class queues of a group: one per priority, and above them the reserved queue. */
#define RESERVED SCHEDULER_PRIORITIES
#define CLASS_QUEUES (SCHEDULER_PRIORITIES + 1)

#define QUANTUM 2048 /* bytes per round: of a class, and of a flow times its weight */
/* Bits of an order key: slot from 0, round from KEY_ROUND, RESERVED - class queue from KEY_QUEUE.
 * The least key is served first. */
#define KEY_ROUND 16
#define KEY_QUEUE 58
#define MAX_GROUPS (1u << KEY_ROUND)
#define MAX_ROUND (UINT64_C(1) << (KEY_QUEUE - KEY_ROUND - 1))
/* Limits of work per call that sends no packet. The next call goes on with the rest, so that no
 * call takes long. Tests use other values. */
#ifndef TIMER_STEPS
#define TIMER_STEPS 192 /* timers that expire or move to a finer level */
#endif
#ifndef RR_STEPS
#define RR_STEPS 192 /* flows, classes and groups that are selected and may not send */
#endif
#ifndef CHANGE_STEPS
#define CHANGE_STEPS 192 /* groups that are regrouped, or whose leads are reduced */
#endif
#define LOWER_SHARE 262144 /* lower_bytes at which a packet of a lower priority is sent */
#ifndef LOWER_SEARCH_GROUPS
/* Up to this many groups, a call searches all for such a packet; with more, LOWER_SEARCH_GROUPS / 4 + 1. */
#define LOWER_SEARCH_GROUPS 64
#endif
#define LOWER_COST 192 /* off lower_bytes per byte of that packet: lower priorities get 1/193 */
#ifndef KEY_BLOCK
#define KEY_BLOCK 64 /* slots per block whose least key is cached; a power of two */
#endif
/* A lead: rounds that a group is ahead of others. A gap between two groups is reduced to this. */
#define MAX_LEAD 8
/* A reserved rate may be ahead or behind by the traffic of this time, in ticks. */
#define RESERVED_SAVED NS_TICKS(10000000)

/* A queued packet. */
struct queued_packet {
	void *packet;
	uint32_t arrived; /* in units of 256 ns */
	uint32_t bytes;
};

#define CHUNK_PACKETS 3
struct chunk {
	struct queued_packet packets[CHUNK_PACKETS];
	uint32_t next; /* chunk of the queue, or of the free list */
} __attribute__((aligned(64)));

enum flow_state {
	FLOW_UNUSED,
	FLOW_IDLE, /* empty */
	FLOW_READY, /* in the ring of its class */
	FLOW_PARKED, /* waits for its own rate */
};

/* Rates that limit or guarantee the flow's traffic. */
#define FLOW_SUSTAINED 0x1
#define FLOW_PEAK 0x2
#define FLOW_AGGREGATE 0x4 /* of the modem */
#define FLOW_RESERVATION 0x8

/* Enqueue touches the first of the two cache lines, dequeue both. */
struct flow {
	struct link link; /* in the ring of its class */
	uint32_t first, last; /* chunks */
	uint32_t bytes, packets; /* queued */
	uint32_t class;
	int32_t credit; /* bytes left in this round */
	uint32_t buffers[3]; /* limits in bytes: min, target, max */
	uint16_t max_packet;
	uint16_t sequence;
	uint8_t state;
	uint8_t aqm;
	uint8_t header_bytes;
	uint8_t head, tail; /* positions in the first and the last chunk */
	uint8_t weight;
	uint8_t rates; /* bits FLOW_SUSTAINED ... */
	uint64_t granted_bytes;

	struct bucket sustained;
	struct bucket peak;
	int64_t last_sent; /* latest end of its sent packets; bonded flows only */
	uint64_t granted_packets;
} __attribute__((aligned(128)));
_Static_assert(sizeof(struct flow) == 128, "two cache lines");

/* The minimum reserved rate: when the next packet is due. */
struct reserve {
	struct link link; /* in the reserved queue of its group */
	int64_t due;
	uint64_t cost; /* of a byte */
	uint32_t packet; /* shorter packets count as this many bytes */
	bool listed; /* in the reserved queue; it may no longer be due */
};

enum class_state {
	CLASS_IDLE, /* in no list: none of its flows is ready */
	CLASS_READY, /* in its class queue */
	CLASS_BLOCKED, /* waits for the aggregate rate of its modem */
	CLASS_BLOCKED_SERVED, /* the same; served since it last waited: after CLASS_BLOCKED */
};

/* Flows of one modem with one group and priority. */
struct class {
	struct link link; /* in its class queue, or among the modem's blocked classes */
	uint32_t flows; /* ring of ready flows */
	int32_t credit;
	uint32_t group;
	uint32_t modem;
	uint32_t users; /* number of flows; 0: free, and link.next is the next free class */
	uint8_t priority;
	uint8_t state;
	bool served; /* since it last waited for its modem */
};

struct modem {
	struct bucket aggregate;
	uint32_t max_packet;
	struct line blocked, blocked_served; /* classes */
	uint32_t first_flow; /* linked by next_of_modem[] */
} __attribute__((aligned(64)));

/* A class queue of a group, or its reserved queue. */
struct class_queue {
	struct line line;
	uint32_t count;
	uint32_t round_left; /* members still to be served in this round */
	uint64_t round;
};

#define CHANNEL_WORDS (SCHEDULER_MAX_CHANNELS / 64)

/* Channels with consecutive indices. */
struct run {
	uint16_t from, count;
};

struct group {
	struct class_queue queues[CLASS_QUEUES];
	uint32_t waiting; /* bit per class queue with members */
	uint32_t cluster;
	uint32_t slot; /* index in present[] of its cluster, while it has packets */
	uint32_t reductions; /* bit per class queue whose round includes the latest reduction */
	uint32_t channel_count;
	uint32_t first_channel; /* lowest channel when it was last assigned to a cluster */
	uint32_t users; /* flows */
	uint64_t channels[CHANNEL_WORDS]; /* bit per channel */
	uint32_t run_count;
	struct run runs[SCHEDULER_MAX_CHANNELS / 2];
	struct scheduler_group_report report;
};

/* Groups that share channels, directly or through other groups. */
struct cluster {
	struct link link; /* in the ring of clusters with awake groups */
	/* Groups with packets: awake ones first, then those whose channels all have work up to
	 * the horizon. */
	uint32_t *present;
	int64_t *keys; /* order key by slot; the least is served first */
	int64_t *min; /* of each complete block of keys */
	uint32_t waiting[CLASS_QUEUES]; /* present groups with members in this class queue */
	uint32_t awake_count, present_count;
	int64_t horizon; /* channels get work up to this time; cluster_wake() sets it again */
	int64_t first_free; /* earliest time at which a channel of a sleeping group is free */
	uint64_t far_ahead[CLASS_QUEUES]; /* a round above this starts a reduction of leads */
	uint64_t served[CLASS_QUEUES]; /* round of the group that was served last */
	/* bytes sent while other packets of the cluster waited, at most about LOWER_SHARE, minus
	 * LOWER_COST per byte of a packet of a lower priority */
	uint32_t lower_bytes;
	/* group * CLASS_QUEUES + class queue that the latest such packet was taken from */
	uint32_t lower_next;
};

struct channel {
	uint64_t cost; /* of a byte */
	int64_t busy_until;
	struct scheduler_depi depi;
	int64_t flush; /* ticks */
	int64_t opened; /* when the current DEPI frame was started */
	uint32_t space; /* free bytes of the current DEPI frame; 0: there is none */
	uint32_t segments;
	uint32_t groups; /* bonding groups with this channel */
	uint64_t packets, bytes; /* granted */
};

struct delays {
	uint64_t units; /* sum, in units of 256 ns */
	uint64_t buckets[SCHEDULER_DELAY_BUCKETS];
};

struct regroup;
struct leads;

struct scheduler {
	/* when each channel has sent its work; the low 8 bits are its index */
	int64_t free_at[SCHEDULER_MAX_CHANNELS];
	struct flow *flows;
	struct chunk *chunks;
	struct class *classes;
	struct modem *modems;
	struct group *groups;
	struct cluster *clusters; /* two halves with an entry per channel */
	struct channel *channels;
	struct reserve *reserves; /* by flow */
	struct aqm_state *aqm; /* by flow */
	/* Timers: per flow for its rates and its reserved rate, per modem, per cluster. */
	struct wheel wheel;
	struct bucket limit; /* of the service group; its depth is SCHEDULER_LEAD_NS */
	uint32_t free_chunk, free_class;
	uint32_t queued;
	uint32_t half_full, nearly_full; /* packets */
	uint32_t working; /* ring of clusters with awake groups */
	uint32_t flow_count, modem_count, group_count, channel_count;
	uint32_t packet_limit;
	uint16_t first_number;
	int64_t now;
	uint64_t epoch; /* caller's time at tick 0, ns */
	bool started;
	uint64_t random;
	struct delays delays[SCHEDULER_PRIORITIES];
	uint64_t (*drops)[SCHEDULER_VERDICTS]; /* by flow */
	uint16_t *own_max_packet; /* by flow: its limit without that of its modem */
	uint32_t *next_of_modem; /* by flow: the next flow of its modem */
	/* Memory of the clusters, twice, as groups move from one half to the other. */
	uint32_t *present;
	int64_t *keys, *min;
	uint32_t steps; /* left in this call */
	bool unfinished; /* the latest call left work for want of steps */
	bool reducing; /* leads are being reduced */
	bool changing; /* groups are still to be assigned to clusters */
	struct regroup *regroup;
	struct leads *leads;
};

/* Prefetches a cache line for writing. gcc drops calls of a function that only prefetches. The
 * empty asm statement prevents that. */
static inline void fetch(const void *line) {
	__builtin_prefetch(line, 1);
	__asm__ volatile("");
}

static inline struct links flow_links(const struct scheduler *s) {
	return (struct links){s->flows, sizeof(*s->flows)};
}

static inline struct links class_links(const struct scheduler *s) {
	return (struct links){s->classes, sizeof(*s->classes)};
}

static inline struct links reserve_links(const struct scheduler *s) {
	return (struct links){s->reserves, sizeof(*s->reserves)};
}

static inline struct links cluster_links(const struct scheduler *s) {
	return (struct links){s->clusters, sizeof(*s->clusters)};
}

/* Indices of timers. */
static inline uint32_t reserve_timer(const struct scheduler *s, uint32_t flow) {
	return s->flow_count + flow;
}

static inline uint32_t modem_timer(const struct scheduler *s, uint32_t modem) {
	return 2 * s->flow_count + modem;
}

static inline uint32_t cluster_timer(const struct scheduler *s, uint32_t cluster) {
	return 2 * s->flow_count + s->modem_count + cluster;
}

/* Longer jumps of the clock are shortened to this. */
#define MAX_JUMP_NS 3600000000000
/* At this many ticks, all times are set back by a multiple of WHEEL_SPAN. */
#define REBASE_AT (INT64_C(1) << 60)
#define REBASE_BY (REBASE_AT - WHEEL_SPAN)

/* Handles a jump of the clock, or so many ticks that times are set back. `since`: ns since the
 * epoch. */
void scheduler_jump(struct scheduler *s, uint64_t since);

/* Converts the caller's time to ticks. The result never decreases. */
static inline int64_t scheduler_ticks(struct scheduler *s, uint64_t now) {
	uint64_t since, before = (uint64_t)s->now / TICKS_PER_NS;

	if (!s->started) {
		s->started = true;
		s->epoch = now;
	}
	since = now > s->epoch ? now - s->epoch : 0;
	if (since <= before)
		return s->now;
	if (since - before > MAX_JUMP_NS || since >= REBASE_AT / TICKS_PER_NS)
		scheduler_jump(s, since);
	else
		s->now = NS_TICKS(since);
	return s->now;
}

/* Converts ticks to the caller's time, at most UINT64_MAX. */
static inline uint64_t scheduler_time(const struct scheduler *s, int64_t ticks) {
	uint64_t after = (uint64_t)more(ticks, 0) / TICKS_PER_NS;

	return after < UINT64_MAX - s->epoch ? s->epoch + after : UINT64_MAX;
}
