/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose turn it can be: flows enter and leave their classes, and classes the columns of their
 * groups. */
#pragma once

#include "scheduler/columns.h"

/* A class without flows leaves the line in which it stands, wherever in it that is. */
void class_withdraw(struct scheduler *s, uint32_t class);

/* The flow is ready and has a reserved rate: it stands in the reserved column, too, as soon as a
 * packet is due. */
void reserve_enter(struct scheduler *s, uint32_t flow, int64_t now);

/* The flow leaves the reserved column, wherever in it it stands; harmless where it does not. */
void reserve_withdraw(struct scheduler *s, uint32_t flow);

/* The first of a group's reserved column leaves it. */
void reserve_leave(struct scheduler *s, uint32_t group);

/* The flow goes no earlier than at `until`, for its rates. */
void turns_park(struct scheduler *s, uint32_t flow, int64_t until);

/* Whether no class of the modem waits for its aggregate rate. */
static inline bool modem_is_open(const struct modem *m) {
	return m->blocked.first == NONE && m->blocked_again.first == NONE;
}

/* The class, the first of its column, goes no earlier than its modem's aggregate rate lets a
 * packet of `bytes` go. */
void turns_block(struct scheduler *s, uint32_t class, uint32_t bytes);

/* What a timer was set for has come. */
void turns_timer(struct scheduler *s, uint32_t timer, int64_t now);

/* Takes the flow out of wherever it is. Its state is then the caller's, and its class may be
 * empty. */
void turns_leave(struct scheduler *s, uint32_t flow);

static inline void class_enter(struct scheduler *s, uint32_t flow) {
	struct flow *f = &s->flows[flow];
	struct class *c = &s->classes[f->class];

	f->state = FLOW_READY;
	f->credit = (int32_t)less((int64_t)f->credit + f->weight * QUANTUM, f->weight * QUANTUM);
	ring_append(flow_links(s), &c->flows, flow);
	if (c->state != CLASS_IDLE)
		return;
	c->state = CLASS_READY;
	c->credit = (int32_t)less((int64_t)c->credit + QUANTUM, QUANTUM);
	column_enter(s, class_links(s), c->group, c->priority, f->class);
}

/* The flow leaves its class. That stays where it is, although it may be empty now, until it is
 * the first. */
static inline void class_leave(struct scheduler *s, uint32_t flow) {
	ring_remove(flow_links(s), &s->classes[s->flows[flow].class].flows, flow);
}

/* The class, the first of its column, has no flow. */
static inline void class_end(struct scheduler *s, uint32_t class) {
	const struct class *c = &s->classes[class];

	column_leave(s, class_links(s), c->group, c->priority);
	s->classes[class].state = CLASS_IDLE;
}

/* The class, the first of its column, has had its turn. */
static inline void class_pass(struct scheduler *s, struct class *c) {
	c->credit += QUANTUM;
	column_pass(s, class_links(s), c->group, c->priority);
}

/* The flow whose turn it is in its class has had it. */
static inline void flow_pass(struct class *c, struct flow *f) {
	f->credit += f->weight * QUANTUM;
	c->flows = f->link.next;
}

/* The flow has a packet and is in no ring: it goes where it belongs, if need be with its class
 * and group. */
static inline void turns_enter(struct scheduler *s, uint32_t flow, int64_t now) {
	class_enter(s, flow);
	if ((s->flows[flow].rates & FLOW_RESERVATION) != 0)
		reserve_enter(s, flow, now);
}
