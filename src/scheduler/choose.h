/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose turn it is: which group, which of its columns, which class and which flow. */
#pragma once

#include "scheduler/channels.h"
#include "scheduler/internal.h"
#include "scheduler/queue.h"
#include "scheduler/turns.h"

/* A group and its column that have the turn. */
struct turn {
	uint32_t group;
	uint32_t column;
};

/* Of the cluster's awake groups the one with the highest column, of these the one that is
 * behind. */
static inline struct turn next_turn(const struct scheduler *s, const struct cluster *c) {
	int64_t first = run_free(c->ranks, c->awake_count, INT64_MIN);
	uint32_t group = c->present[first & (MAX_GROUPS - 1)];

	return (struct turn){group, highest(s->groups[group].waiting)};
}

/* Something below `top`, in rotation, where the cluster has sent enough above it; else `top`. */
static inline struct turn lower_turn(const struct scheduler *s, struct cluster *c,
				     struct turn top) {
	const uint32_t places = s->group_count * COLUMNS;
	uint32_t nearest = places;
	struct turn turn = top;

	for (uint32_t i = 0; i < c->awake_count; i++) {
		for (uint32_t column = 0; column < top.column; column++) {
			uint32_t place = c->present[i] * COLUMNS + column;
			uint32_t distance = (place + places - c->lower_turn - 1) % places;

			if ((s->groups[c->present[i]].waiting >> column & 1) == 0 ||
			    distance >= nearest)
				continue;
			nearest = distance;
			turn = (struct turn){c->present[i], column};
		}
	}
	if (nearest < places)
		c->lower_turn = turn.group * COLUMNS + turn.column;
	return turn;
}

/*
 * What the next turns will touch comes into the cache: chunks two turns ahead, flows four,
 * classes six, as each is found through the one before.
 */
static inline void prefetch_turns(const struct scheduler *s, uint32_t class) {
	const struct class *classes = s->classes;
	uint32_t second = classes[classes[class].link.next].link.next;
	uint32_t fourth = classes[classes[second].link.next].link.next;

	if (classes[second].flows != NONE)
		__builtin_prefetch(&s->chunks[s->flows[classes[second].flows].first], 1);
	__builtin_prefetch(&s->flows[classes[fourth].flows], 1);
	__builtin_prefetch(&s->flows[classes[fourth].flows].sustained, 1);
	__builtin_prefetch(&classes[classes[classes[fourth].link.next].link.next], 1);
}

/* The flow of the class, the first of its column, that goes next: the first that has not used up
 * its own turn. NONE where the class gives way to others: it is empty, or still pays for its
 * last packet. */
static inline uint32_t class_flow(struct scheduler *s, uint32_t class) {
	struct class *c = &s->classes[class];
	struct flow *f;

	if (c->flows == NONE) {
		class_end(s, class);
		return NONE;
	}
	if (c->credit <= 0) {
		class_pass(s, c);
		return NONE;
	}
	f = &s->flows[c->flows];
	while (f->credit <= 0) {
		flow_pass(c, f);
		f = &s->flows[c->flows];
	}
	return c->flows;
}

/* When the flow's own rates let a packet of `bytes` go. */
static inline int64_t flow_opens(const struct flow *f, uint32_t bytes) {
	int64_t opens = INT64_MIN;

	if ((f->rates & FLOW_SUSTAINED) != 0)
		opens = bucket_opens(&f->sustained, bytes);
	if ((f->rates & FLOW_PEAK) != 0)
		opens = more(opens, bucket_opens(&f->peak, bytes));
	return opens;
}

/* Whether the flow's rates let its first packet go; if not, it or its class gives way to the
 * others. */
static inline bool may_go(struct scheduler *s, uint32_t flow, bool reserved, int64_t now) {
	const struct flow *f = &s->flows[flow];
	uint32_t bytes = queue_head(s, f)->bytes;
	int64_t opens = flow_opens(f, bytes);
	const struct modem *m;

	if (opens > now) {
		turns_park(s, flow, opens);
		return false;
	}
	if (reserved || (f->rates & FLOW_AGGREGATE) == 0)
		return true;
	m = &s->modems[s->classes[f->class].modem];
	if (modem_is_open(m) && bucket_opens(&m->aggregate, bytes) <= now)
		return true;
	turns_block(s, f->class, bytes);
	return false;
}

/* The flow that is first in the reserved column; NONE where it has no reason to be there. */
static inline uint32_t reserved_flow(struct scheduler *s, uint32_t group, uint32_t flow,
				     int64_t now) {
	bool ready = s->flows[flow].state == FLOW_READY;

	if (ready && s->reserves[flow].due <= now)
		return flow;
	reserve_leave(s, group);
	if (ready)
		reserve_enter(s, flow, now);
	return NONE;
}

/* The flow of the column that goes next; NONE where none is left that may. */
static inline uint32_t next_flow(struct scheduler *s, struct turn turn, int64_t now) {
	const struct group *g = &s->groups[turn.group];
	const bool reserved = turn.column == RESERVED;

	while ((g->waiting >> turn.column & 1) != 0) {
		uint32_t first = g->columns[turn.column].line.first;
		uint32_t flow =
			reserved ? reserved_flow(s, turn.group, first, now) : class_flow(s, first);

		if (flow == NONE)
			continue;
		if (s->flows[flow].rates == 0 || may_go(s, flow, reserved, now))
			return flow;
	}
	return NONE;
}
