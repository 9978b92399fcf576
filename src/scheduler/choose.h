/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the group, class queue, class and flow that are served next. */
#pragma once

#include "scheduler/channels.h"
#include "scheduler/internal.h"
#include "scheduler/queue.h"
#include "scheduler/round_robin.h"

/* A group and one of its class queues, selected for service. */
struct pick {
	uint32_t group;
	uint32_t class_queue;
};

/* The least order key of the cluster's awake groups. */
static inline int64_t min_key(const struct cluster *c) {
	const uint32_t blocks = c->awake_count / KEY_BLOCK, rest = c->awake_count % KEY_BLOCK;
	int64_t min;

	if (blocks == 0)
		return run_free(c->keys, rest, INT64_MIN);
	min = run_free(c->min, blocks, INT64_MIN);
	if (rest > 0)
		min = less(min, run_free(c->keys + (size_t)blocks * KEY_BLOCK, rest, INT64_MIN));
	return min;
}

/* The awake group with the highest priority; of equals, the one in the earliest round. */
static inline struct pick cluster_pick(const struct scheduler *s, const struct cluster *c) {
	uint32_t group = c->present[min_key(c) & (MAX_GROUPS - 1)];

	return (struct pick){group, highest(s->groups[group].waiting)};
}

/* Class queues below `top`, a bit each, that have members in any group of the cluster. */
static inline uint32_t lower_queues(const struct cluster *c, unsigned top) {
	uint32_t queues = 0;

	for (unsigned k = 0; k < top; k++)
		queues |= (c->waiting[k] > 0) << k;
	return queues;
}

/* The class queues, of those given, that have members in an awake group of the cluster. */
static inline uint32_t group_queues(const struct scheduler *s, const struct cluster *c,
				    uint32_t group, uint32_t queues) {
	const struct group *g = &s->groups[group];

	return &s->clusters[g->cluster] == c && g->waiting != 0 && g->slot < c->awake_count
		       ? g->waiting & queues
		       : 0;
}

/* Selects a class queue below `top`, in rotation, or returns `top` if none has members. With many
 * groups, a call looks at some of them and the next call goes on. */
static inline struct pick cluster_lower_pick(const struct scheduler *s, struct cluster *c,
					     struct pick top) {
	const uint32_t queues = lower_queues(c, top.class_queue);
	uint32_t group = c->lower_next / CLASS_QUEUES, after = c->lower_next % CLASS_QUEUES + 1;
	uint32_t found = queues == 0 ? 0 : group_queues(s, c, group, queues) >> after << after;
	uint32_t search_count = s->group_count <= LOWER_SEARCH_GROUPS ? s->group_count
								      : LOWER_SEARCH_GROUPS / 4 + 1;

	if (queues == 0)
		return top;
	for (uint32_t i = 0; found == 0 && i < search_count; i++) {
		group = group + 1 < s->group_count ? group + 1 : 0;
		found = group_queues(s, c, group, queues);
	}
	if (found == 0) {
		if (search_count < s->group_count)
			c->lower_next = group * CLASS_QUEUES + RESERVED;
		return top;
	}
	c->lower_next = group * CLASS_QUEUES + (uint32_t)__builtin_ctz(found);
	return (struct pick){group, c->lower_next % CLASS_QUEUES};
}

static inline void flow_fetch(const struct scheduler *s, uint32_t flow) {
	fetch(&s->flows[flow]);
	fetch(&s->flows[flow].sustained);
}

/*
 * Prefetches the data of the next rounds, which are out of the cache when many packets are queued.
 * Classes are fetched six positions ahead, flows four, chunks two, as each pointer is found in the
 * element before. A flow may also need its next chunk, or a class its next flow; these are fetched
 * later.
 */
static inline void rr_prefetch(const struct scheduler *s, uint32_t class) {
	const struct class *classes = s->classes;
	uint32_t next = classes[class].link.next, second = classes[next].link.next;
	uint32_t fourth = classes[classes[second].link.next].link.next;

	if (classes[next].flows != NONE) {
		const struct flow *f = &s->flows[classes[next].flows];

		fetch(&s->chunks[s->chunks[f->first].next]);
		fetch(&s->chunks[s->flows[f->link.next].first]);
	}
	if (classes[second].flows != NONE) {
		const struct flow *f = &s->flows[classes[second].flows];

		fetch(&s->chunks[f->first]);
		flow_fetch(s, f->link.next);
	}
	flow_fetch(s, classes[fourth].flows);
	fetch(&s->modems[classes[fourth].modem]);
	fetch(&classes[classes[classes[fourth].link.next].link.next]);
}

/* The next flow of a class that is first in its class queue: the first flow with credit. NONE
 * if the class is empty or has no credit; then it leaves the queue or moves to its end,
 * respectively. */
static inline uint32_t class_flow(struct scheduler *s, uint32_t class) {
	struct class *c = &s->classes[class];
	struct flow *f;

	if (c->flows == NONE) {
		class_end(s, class);
		return NONE;
	}
	if (c->credit <= 0) {
		class_rotate(s, c);
		return NONE;
	}
	f = &s->flows[c->flows];
	while (f->credit <= 0) {
		flow_rotate(c, f);
		f = &s->flows[c->flows];
	}
	return c->flows;
}

/* The time from which the flow's own rates admit a packet of `bytes`. */
static inline int64_t flow_opens(const struct flow *f, uint32_t bytes) {
	int64_t opens = INT64_MIN;

	if ((f->rates & FLOW_SUSTAINED) != 0)
		opens = bucket_opens(&f->sustained, bytes);
	if ((f->rates & FLOW_PEAK) != 0)
		opens = more(opens, bucket_opens(&f->peak, bytes));
	return opens;
}

/* Whether the flow's rates admit its first packet. If not, parks the flow or blocks its class. */
static inline bool flow_may_send(struct scheduler *s, uint32_t flow, bool reserved, int64_t now) {
	const struct flow *f = &s->flows[flow];
	uint32_t bytes = queue_head(s, f)->bytes;
	int64_t opens = flow_opens(f, bytes);
	const struct modem *m;

	if (opens > now) {
		rr_park(s, flow, opens);
		return false;
	}
	if (reserved || (f->rates & FLOW_AGGREGATE) == 0)
		return true;
	m = &s->modems[s->classes[f->class].modem];
	if (modem_is_open(m) && bucket_opens(&m->aggregate, bytes) <= now)
		return true;
	rr_block(s, f->class, bytes);
	return false;
}

/* The first flow of the reserved queue, or NONE if it is not due; then it leaves the queue. */
static inline uint32_t reserve_flow(struct scheduler *s, uint32_t group, uint32_t flow,
				    int64_t now) {
	bool ready = s->flows[flow].state == FLOW_READY;

	if (ready && s->reserves[flow].due <= now)
		return flow;
	reserve_leave(s, group);
	if (ready)
		reserve_enter(s, flow, now);
	return NONE;
}

/* The next flow of the class queue. NONE if no flow may send, or if s->steps are used up. */
static inline uint32_t class_queue_flow(struct scheduler *s, struct pick pick, int64_t now) {
	const struct class_queue *c = &s->groups[pick.group].queues[pick.class_queue];
	const bool reserved = pick.class_queue == RESERVED;

	while (c->count > 0 && s->steps > 0) {
		uint32_t first = c->line.first;
		uint32_t flow =
			reserved ? reserve_flow(s, pick.group, first, now) : class_flow(s, first);

		if (flow != NONE &&
		    (s->flows[flow].rates == 0 || flow_may_send(s, flow, reserved, now)))
			return flow;
		s->steps--;
	}
	return NONE;
}
