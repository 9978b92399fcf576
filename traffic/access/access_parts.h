/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal structs of this folder: modems, flows, grants and channels. */
#pragma once

#include "access/access.h"
#include "access/due.h"
#include "random/random.h"

#define ACCESS_AHEAD 204800000 /* samples, 1 s: a MAP that begins later is invalid */
#define ACCESS_REGIONS 1024 /* capacity of request regions per channel */
#define ACCESS_SIDS 0x4000
#define ACCESS_AWAY \
	10240000 /* 50 ms: a channel without MAPs for so long is left out of acknowledgement */

/* Kind of an entry of access.due; the other bits of its number are an index. */
enum access_due { DUE_GRANT, DUE_ANSWER, DUE_CHANNEL, DUE_KINDS };

#define DUE_BITS 2

/* An unanswered request. */
struct access_request {
	uint64_t at; /* time of its minislot at the CMTS */
	uint32_t bytes; /* requested and not granted yet */
	bool contention;
};

/* A flow: its settings, queue and requests. */
struct access_queue {
	struct access_flow set; /* settings */
	struct access_sid *sids; /* those of `set`, owned */
	uint32_t number; /* index in access.flows */
	uint32_t generation; /* grants of earlier generations are not this flow's */
	uint32_t group; /* index in access.groups */
	uint64_t waiting; /* bytes */
	uint64_t pending_grants; /* bytes that fit in known grants */
	uint32_t chance; /* first known grant or poll in which it can request; ACCESS_NONE: none */
	uint64_t requested; /* sum of bytes in `requests` */
	struct access_request requests[ACCESS_OUTSTANDING]; /* oldest first */
	unsigned request_count;
	uint64_t pending_until; /* ack time of the last MAP with a grant pending for it */
	uint64_t answer_ack; /* ack time that it processes next */
	unsigned tries; /* unanswered requests in contention */
	bool contends; /* is in the contenders of its group */
	bool watched; /* is in `waiting` of its group, or has a DUE_ANSWER entry */
};

/* An opportunity of one flow: data, poll, station maintenance. */
struct access_grant {
	uint32_t flow, generation;
	uint32_t next; /* next in the list of the flow's chances by time, or in the free list */
	uint16_t channel, sid;
	uint8_t iuc;
	bool chance;
	uint32_t minislots;
	uint32_t bytes; /* queue bytes that fit */
	uint64_t minislot;
	uint64_t at, time; /* time at the CMTS; time at which it is filled */
};

/* Reception of a MAP: decides whether a modem received it in time. */
struct access_map_reception {
	uint64_t received; /* time of reception without propagation delay */
	uint64_t start; /* time of its first minislot at the CMTS */
	uint64_t number; /* sequence number over all MAPs */
};

/* Consecutive request opportunities. */
struct access_region {
	struct access_map_reception map;
	uint64_t minislot;
	uint32_t count; /* opportunities */
};

/* An upstream channel. */
struct access_line {
	struct access_channel set;
	uint32_t *flows; /* index of the flow by SID; ACCESS_NONE: none */
	uint64_t ack; /* ack time of the last MAP */
	uint64_t received; /* reception time of the last MAP */
	uint64_t end; /* minislot after the last described one */
	struct access_region *regions; /* ring */
	uint32_t first, region_count;
	uint8_t window_start, window_end; /* exponents of the back-off window in the last MAP */
	bool due; /* its next opportunities have an entry in access.due */
};

/* Flows with the same set of channels: they count the same opportunities. */
struct access_group {
	uint64_t channels; /* bitmap */
	uint64_t passed; /* opportunities passed while any flow contended */
	uint8_t start, end; /* exponents of the back-off window: the largest of its channels */
	uint32_t members;
	struct due contenders; /* flows by the opportunity that they will use */
	struct due waiting; /* flows by the time that a MAP must acknowledge */
};

/* A contender and the current opportunity that it uses. */
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
	uint32_t grant_count, free_grant; /* capacity; first of the free list, or ACCESS_NONE */
	struct access_group *groups;
	uint32_t group_count;
	struct access_pick *picks;
	struct access_event *out; /* events decided and not returned yet */
	uint32_t out_first, out_count;
	struct due due;
	struct random random;
	uint64_t start;
	uint64_t now;
	uint64_t lead; /* longest time of any modem between filling a burst and its arrival */
	/* shortest time of any modem from a MAP's end to the first minislot that it can use */
	int64_t min;
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

/* Time at which a minislot begins at the CMTS. */
static inline uint64_t access_time(const struct access *a, const struct access_line *l,
				   uint64_t minislot) {
	return a->start + minislot / l->set.frame_minislots * l->set.frame;
}

/* Next time at which the flow can request without contention; UINT64_MAX if no such opportunity is
 * known. */
static inline uint64_t access_chance(const struct access *a, const struct access_queue *f) {
	return f->chance == ACCESS_NONE ? UINT64_MAX : a->grants[f->chance].time;
}

/* When a burst that arrives at `at` is filled. Signed, as it may be negative for modems with
 * negative skew. */
static inline int64_t access_fill(const struct access_modem *m, uint64_t at) {
	return (int64_t)at + m->skew - m->propagation - m->burst_processing;
}
