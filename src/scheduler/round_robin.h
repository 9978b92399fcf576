/* SPDX-License-Identifier: BSD-3-Clause */
/* Round robin: flows enter and leave their classes, and classes the class queues of their
 * groups. */
#pragma once

#include "scheduler/class_queues.h"

/* Removes a class without flows from its list, at any position. */
void class_withdraw(struct scheduler *s, uint32_t class);

/* Adds a ready flow with a reserved rate to the reserved queue, now or when a packet is due. */
void reserve_enter(struct scheduler *s, uint32_t flow, int64_t now);

/* Removes the flow from the reserved queue, at any position. No effect if it is not in it. */
void reserve_withdraw(struct scheduler *s, uint32_t flow);

/* Removes the first flow of a group's reserved queue. */
void reserve_leave(struct scheduler *s, uint32_t group);

/* Parks the flow until its own rates admit a packet at `until`. */
void rr_park(struct scheduler *s, uint32_t flow, int64_t until);

/* Whether no class of the modem waits for its aggregate rate. */
static inline bool modem_is_open(const struct modem *m) {
	return m->blocked.first == NONE && m->blocked_served.first == NONE;
}

/* Blocks the class, the first of its class queue, until its modem's aggregate rate admits
 * `bytes`. */
void rr_block(struct scheduler *s, uint32_t class, uint32_t bytes);

/* Handles a timer that has expired. */
void rr_timer(struct scheduler *s, uint32_t timer, int64_t now);

/* Removes the flow from all lists. The caller sets its state. Its class may be empty then. */
void rr_leave(struct scheduler *s, uint32_t flow);

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
	class_queue_enter(s, class_links(s), c->group, c->priority, f->class);
}

/* Removes the flow from its class. An empty class stays in its class queue until it is first. */
static inline void class_leave(struct scheduler *s, uint32_t flow) {
	ring_remove(flow_links(s), &s->classes[s->flows[flow].class].flows, flow);
}

/* Removes an empty class, the first of its class queue. */
static inline void class_end(struct scheduler *s, uint32_t class) {
	const struct class *c = &s->classes[class];

	class_queue_leave(s, class_links(s), c->group, c->priority);
	s->classes[class].state = CLASS_IDLE;
}

/* Ends the service of the class, the first of its class queue, in this round. */
static inline void class_rotate(struct scheduler *s, struct class *c) {
	c->credit += QUANTUM;
	class_queue_rotate(s, class_links(s), c->group, c->priority);
}

/* Ends the service of the class's current flow in this round. */
static inline void flow_rotate(struct class *c, struct flow *f) {
	f->credit += f->weight * QUANTUM;
	c->flows = f->link.next;
}

/* Activates a flow with packets that is in no list, and its class and group if necessary. */
static inline void rr_enter(struct scheduler *s, uint32_t flow, int64_t now) {
	class_enter(s, flow);
	if ((s->flows[flow].rates & FLOW_RESERVATION) != 0)
		reserve_enter(s, flow, now);
}
