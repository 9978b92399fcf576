/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room share: how modems, flows, grants and channels are kept. */
#pragma once

#include "access/access.h"
#include "access/due.h"
#include "random/random.h"

#define ACCESS_AHEAD 204800000 /* samples, 1 s: a MAP that begins later is of another time */
#define ACCESS_REGIONS 1024 /* request regions of a channel that are known ahead */
#define ACCESS_SIDS 0x4000
#define ACCESS_AWAY \
	10240000 /* 50 ms: a channel without MAPs for so long acknowledges nothing any more */

/* What an entry of access.due is; the rest of its number says which. */
enum access_due { DUE_GRANT, DUE_ANSWER, DUE_CHANNEL, DUE_KINDS };

#define DUE_BITS 2

/* A request in doubt. */
struct access_asked {
	uint64_t at; /* when its minislot is at the CMTS */
	uint32_t bytes; /* of it, not granted yet */
	bool contention;
};

struct access_queue {
	struct access_flow set; /* without its SIDs */
	struct access_sid *sids;
	uint32_t number;
	uint32_t generation; /* grants of earlier ones are no more its own */
	uint32_t group;
	uint64_t waiting; /* bytes */
	uint64_t coming; /* bytes that fit in grants that are known */
	uint32_t chance; /* the first known grant or poll in which it can ask; ACCESS_NONE: none */
	uint64_t asked; /* bytes, in all of `asks` */
	struct access_asked asks[ACCESS_OUTSTANDING]; /* the oldest first */
	unsigned ask_count;
	uint64_t pending_until; /* ack time of the last MAP that told of a grant pending */
	uint64_t answer_ack; /* ack time of what it is about to hear */
	unsigned tries; /* in contention, unanswered */
	bool contends; /* is in its group's contenders, */
	bool watched; /* in those that wait for an answer, or about to hear one */
};

/* An opportunity of a flow's own: data, poll, station maintenance. */
struct access_grant {
	uint32_t flow, generation;
	uint32_t next; /* of the flow's chances, by time; of those not in use */
	uint16_t channel, sid;
	uint8_t iuc;
	bool chance;
	uint32_t minislots;
	uint32_t bytes; /* of the queue that fit */
	uint64_t minislot;
	uint64_t at, time; /* at the CMTS; when it is filled */
};

/* Which MAP it was, and when: whether a modem has heard it in time. */
struct access_heard {
	uint64_t heard; /* without propagation */
	uint64_t start; /* when its first minislot is at the CMTS */
	uint64_t number; /* of all MAPs */
};

/* Request opportunities one after the other. */
struct access_region {
	struct access_heard map;
	uint64_t minislot;
	uint32_t count; /* opportunities */
};

struct access_line {
	struct access_channel set;
	uint32_t *flows; /* by SID */
	uint64_t ack; /* time that the last MAP acknowledged, */
	uint64_t heard; /* and when it came */
	uint64_t end; /* minislot after the last one described */
	struct access_region *regions; /* a ring */
	uint32_t first, region_count;
	uint8_t window_start, window_end; /* exponents that its last MAP had */
	bool due; /* its next opportunities are in access.due */
};

/* Flows with the same channels: they count the same opportunities. */
struct access_group {
	uint64_t channels; /* a bit each */
	uint64_t passed; /* opportunities, since the beginning, while any flow contended */
	uint8_t start, end; /* exponents of the back-off window: the widest of its channels */
	uint32_t members;
	struct due contenders; /* flows by the opportunity that they use */
	struct due waiting; /* flows by the time that a MAP must acknowledge */
};

/* A contender, and which of the opportunities at hand it uses. */
struct access_pick {
	uint32_t opportunity, flow;
};

struct access {
	struct access_line *lines;
	uint32_t line_count;
	struct access_modem *modems;
	struct access_queue *flows;
	uint32_t modem_count, flow_count;
	struct access_grant *grants;
	uint32_t grant_count, free_grant;
	struct access_group *groups;
	uint32_t group_count;
	struct access_pick *picks;
	struct access_event *out; /* that were decided and not taken yet */
	uint32_t out_first, out_count;
	struct due due;
	struct random random;
	uint64_t start;
	uint64_t now;
	uint64_t lead; /* the longest time of any modem between a burst being filled and heard, */
	int64_t least; /* and the shortest from a MAP's end to the first minislot of it that it can use */
	struct access_counts counts;
};

static inline struct access_modem *access_modem_of(const struct access *a,
						   const struct access_queue *f) {
	return &a->modems[f->set.modem];
}

static inline uint32_t access_due_number(enum access_due kind, uint32_t which) {
	return which << DUE_BITS | (uint32_t)kind;
}

static inline void access_schedule(struct access *a, uint64_t time, enum access_due kind,
				   uint32_t which) {
	due_add(&a->due, time, access_due_number(kind, which));
}

/* When a minislot begins at the CMTS. */
static inline uint64_t access_time(const struct access *a, const struct access_line *l,
				   uint64_t minislot) {
	return a->start + minislot / l->set.frame_minislots * l->set.frame;
}

/* When the flow can ask the next time without contention; UINT64_MAX where it knows of no such chance. */
static inline uint64_t access_chance(const struct access *a, const struct access_queue *f) {
	return f->chance == ACCESS_NONE ? UINT64_MAX : a->grants[f->chance].time;
}

/* Signed, as times of modems that are set too early can be. */
static inline int64_t access_fill(const struct access_modem *m, uint64_t at) {
	return (int64_t)at + m->skew - m->propagation - m->burst_processing;
}
