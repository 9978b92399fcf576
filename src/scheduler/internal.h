/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the scheduler is made of. A packet travels: chunk in the queue of its flow -> flow in the
 * ring of its class -> class in the line of a column of its bonding group -> group among the
 * awake ones of its cluster -> cluster in the ring of those with work. What may not go for a
 * while stands in none of these but has a timer.
 */
#pragma once

#include "scheduler/aqm.h"
#include "scheduler/report.h"
#include "scheduler/ring.h"
#include "scheduler/scheduler.h"
#include "scheduler/ticks.h"
#include "scheduler/wheel.h"

/* Columns of a group: the priorities, and above them what is reserved. */
#define RESERVED SCHEDULER_PRIORITIES
#define COLUMNS (SCHEDULER_PRIORITIES + 1)

#define QUANTUM 2048 /* bytes of a turn */
/* In a rank: place, round and column, from the lowest bits up. */
#define RANK_ROUND 16
#define RANK_COLUMN 58
#define MAX_GROUPS (1u << RANK_ROUND)
#define MAX_ROUND (UINT64_C(1) << (RANK_COLUMN - RANK_ROUND - 1))
/* So many things that come to nothing a call looks at. What is left goes on with the next call, so
 * that none takes long, however many there are. Tests have other numbers. */
#ifndef TIMER_STEPS
#define TIMER_STEPS 192 /* timers that are due or come near */
#endif
#ifndef TURN_STEPS
#define TURN_STEPS 192 /* flows, classes and groups whose turn it is, and that may not go */
#endif
#ifndef CHANGE_STEPS
#define CHANGE_STEPS 192 /* groups that are put together anew, or whose leads are cut */
#endif
#define LOWER_SHARE 262144 /* bytes after which a lower column has a packet, */
#ifndef LOWER_LOOKS
#define LOWER_LOOKS 64 /* groups that are looked at for it; of more, a quarter at a time */
#endif
#define LOWER_COST 192 /* of which each byte takes so many away */
#ifndef RANK_BLOCK
#define RANK_BLOCK 64 /* places whose least rank is known; a power of two */
#endif
#define MAX_LEAD 8 /* rounds that count where a group is further ahead of the one behind it */
/* So much a flow's meter is behind or ahead of its reserved rate at most, in ticks of that rate. */
#define RESERVED_SAVED NS_TICKS(10000000)

/* A packet in a queue. */
struct waiting {
	void *packet;
	uint32_t arrived; /* in units of 1.024 us */
	uint32_t bytes;
};

#define CHUNK_PACKETS 3
struct chunk {
	struct waiting packets[CHUNK_PACKETS];
	uint32_t next; /* of the queue, or the next free one */
} __attribute__((aligned(64)));

enum flow_state {
	FLOW_UNUSED,
	FLOW_IDLE, /* empty */
	FLOW_READY, /* in its class */
	FLOW_PARKED, /* waits for its rate */
};

/* Rates that a flow has to keep. */
#define FLOW_SUSTAINED 0x1
#define FLOW_PEAK 0x2
#define FLOW_AGGREGATE 0x4 /* of its modem */
#define FLOW_RESERVATION 0x8

/* Two cache lines: the first is what arrivals touch, both are what departures touch. */
struct flow {
	struct link link; /* in its class, or among the reserved */
	uint32_t first, last; /* chunks */
	uint32_t bytes, packets; /* waiting */
	uint32_t class;
	int32_t credit; /* bytes left of its turn */
	uint32_t buffers[3]; /* min, target, max */
	uint16_t max_packet;
	uint16_t sequence;
	uint8_t state;
	uint8_t aqm;
	uint8_t header_bytes;
	uint8_t head, tail; /* where in its chunks the queue begins and ends */
	uint8_t weight;
	uint8_t rates; /* which it has: FLOW_SUSTAINED ... */
	uint64_t granted_bytes;

	struct bucket sustained;
	struct bucket peak;
	int64_t last_sent; /* when the latest of its packets will have been sent */
	uint64_t granted_packets;
} __attribute__((aligned(128)));
_Static_assert(sizeof(struct flow) == 128, "two cache lines");

/* The minimum reserved rate: when the next packet is due. */
struct reserve {
	struct link link; /* in its group's reserved column */
	int64_t due;
	uint64_t cost; /* of a byte */
	uint32_t packet; /* at least so many bytes count */
	bool listed; /* is in the column, perhaps no more with reason */
};

enum class_state {
	CLASS_IDLE, /* in neither of these; no flow of it is ready */
	CLASS_READY, /* in its column */
	CLASS_BLOCKED, /* waits for the aggregate rate of its modem */
	CLASS_BLOCKED_AGAIN, /* the same, behind all that had nothing when they waited last */
};

/* Flows of one modem with one group and priority. */
struct class {
	struct link link; /* in its column, or among its modem's blocked ones */
	uint32_t flows; /* ring of the ready ones */
	int32_t credit;
	uint32_t group;
	uint32_t modem;
	uint32_t users; /* flows that belong to it; of free ones, link.next is the next free one */
	uint8_t priority;
	uint8_t state;
	bool served; /* since its modem's flows waited last */
};

struct modem {
	struct bucket aggregate;
	uint32_t max_packet;
	struct line blocked, blocked_again; /* classes */
	uint32_t first_flow; /* its flows, by next_of_modem[] */
} __attribute__((aligned(64)));

/* One column of a group: a line of classes, or of flows' reserves. */
struct column {
	struct line line;
	uint32_t count;
	uint32_t turns_left; /* of this round */
	uint64_t round;
};

#define CHANNEL_WORDS (SCHEDULER_MAX_CHANNELS / 64)

/* Channels with consecutive indices. */
struct run {
	uint16_t from, count;
};

struct group {
	struct column columns[COLUMNS];
	uint32_t waiting; /* a bit a column */
	uint32_t cluster;
	uint32_t place; /* among the present of its cluster, where it waits for something */
	uint32_t cuts; /* a bit a column whose round has been told by the latest cut of leads */
	uint32_t channel_count;
	uint32_t first_channel; /* when it was last put together with others */
	uint32_t users; /* flows */
	uint64_t channels[CHANNEL_WORDS]; /* a bit a channel */
	uint32_t run_count;
	struct run runs[SCHEDULER_MAX_CHANNELS / 2];
	struct scheduler_group_report report;
};

/* Groups that share channels, directly or through others. */
struct cluster {
	struct link link; /* in the ring of those with awake groups */
	/* Groups with packets that may go: first those that are awake, then those all of whose
	 * channels have work up to the horizon. */
	uint32_t *present;
	int64_t *ranks; /* of these, the least of which goes first: column, round and place */
	int64_t *least; /* of each whole block of ranks */
	uint32_t waiting[COLUMNS]; /* present groups with such a column */
	uint32_t awake_count, present_count;
	int64_t horizon; /* up to which channels are given work, until all groups are asleep */
	int64_t first_free; /* of the channels of groups that are asleep */
	uint64_t far_ahead[COLUMNS]; /* rounds from where on leads are cut */
	uint64_t served[COLUMNS]; /* round of the group that was served last */
	uint32_t lower_bytes; /* sent while something lower waited */
	uint32_t lower_turn;
};

struct channel {
	uint64_t cost; /* of a byte */
	int64_t busy_until;
	struct scheduler_depi depi;
	int64_t flush; /* ticks */
	int64_t opened; /* the DEPI frame that is being filled: when, */
	uint32_t space; /* and what is left of it; 0: none is */
	uint32_t segments;
	uint32_t groups; /* that have it */
	uint64_t packets, bytes; /* granted */
};

struct delays {
	uint64_t units;
	uint64_t buckets[SCHEDULER_DELAY_BUCKETS];
};

struct regroup;
struct leads;

struct scheduler {
	/* when each channel will have sent what it was given; the low 8 bits are its index */
	int64_t free_at[SCHEDULER_MAX_CHANNELS];
	struct flow *flows;
	struct chunk *chunks;
	struct class *classes;
	struct modem *modems;
	struct group *groups;
	struct cluster
		*clusters; /* two halves of one a channel, which stands for those that share it */
	struct channel *channels;
	struct reserve *reserves; /* one a flow */
	struct aqm_state *aqm; /* one a flow */
	struct wheel wheel; /* a timer for each flow's rates, flow's reserve, modem, cluster */
	struct bucket limit; /* of the service group; its depth is the lead */
	uint32_t free_chunk, free_class;
	uint32_t held;
	uint32_t half_full, nearly_full; /* packets */
	uint32_t working; /* ring of clusters */
	uint32_t flow_count, modem_count, group_count, channel_count;
	uint32_t packet_limit;
	uint16_t first_number;
	int64_t now;
	uint64_t epoch; /* ns of the caller at tick 0 */
	bool started;
	uint64_t random;
	struct delays delays[SCHEDULER_PRIORITIES];
	uint64_t (*drops)[SCHEDULER_VERDICTS]; /* by flow */
	uint16_t *own_max_packet; /* by flow: what it is without the limit of its modem */
	uint32_t *next_of_modem; /* by flow */
	/* Memory of the clusters: twice, as groups move from one half to the other. */
	uint32_t *present;
	int64_t *ranks, *least;
	uint32_t steps; /* that are left to this call */
	bool unfinished; /* the latest call left timers or turns */
	bool cutting; /* leads are */
	bool changing; /* clusters are not yet what channels and limit make of them */
	struct regroup *regroup;
	struct leads *leads;
};

/*
 * Has a line fetched into the nearest cache, to be written to. gcc takes a function that does nothing but
 * __builtin_prefetch() for one without effect and leaves its calls out: hence the empty statement, which has one.
 */
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

/* Timers, by what they are for. */
static inline uint32_t reserve_timer(const struct scheduler *s, uint32_t flow) {
	return s->flow_count + flow;
}

static inline uint32_t modem_timer(const struct scheduler *s, uint32_t modem) {
	return 2 * s->flow_count + modem;
}

static inline uint32_t cluster_timer(const struct scheduler *s, uint32_t cluster) {
	return 2 * s->flow_count + s->modem_count + cluster;
}

/* Longer jumps count as this one: behind it, everything whose time could come has. */
#define LONGEST_JUMP_NS 3600000000000
/* When ticks have become so many, all times are set back by a number of turns of the wheel. */
#define REBASE_AT (INT64_C(1) << 60)
#define REBASE_BY (REBASE_AT - WHEEL_TURN)

/* Time goes on so far that it needs care. `since` is what has passed since the epoch, ns. */
void scheduler_jump(struct scheduler *s, uint64_t since);

/* The caller's time in ticks: never less than before. */
static inline int64_t scheduler_ticks(struct scheduler *s, uint64_t now) {
	uint64_t since, before = (uint64_t)s->now / TICKS_PER_NS;

	if (!s->started) {
		s->started = true;
		s->epoch = now;
	}
	since = now > s->epoch ? now - s->epoch : 0;
	if (since <= before)
		return s->now;
	if (since - before > LONGEST_JUMP_NS || since >= REBASE_AT / TICKS_PER_NS)
		scheduler_jump(s, since);
	else
		s->now = NS_TICKS(since);
	return s->now;
}

/* Ticks in the caller's time, whose last moment stands for all that lies behind it. */
static inline uint64_t scheduler_time(const struct scheduler *s, int64_t ticks) {
	uint64_t after = (uint64_t)more(ticks, 0) / TICKS_PER_NS;

	return after < UINT64_MAX - s->epoch ? s->epoch + after : UINT64_MAX;
}
