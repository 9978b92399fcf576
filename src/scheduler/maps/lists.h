/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of flows: class queues, reserved queue and parked ring of each group. Requests and grants call
 * these functions, which are inline as they are short. */
#pragma once

#include "scheduler/maps/internal.h"

static inline struct links flow_links(const struct maps *m, uint32_t level) {
	struct flow *first = &m->flows[0];

	return (struct links){level == RESERVED ? &first->reserved : &first->link, sizeof(*first)};
}

/* Appends a flow to its group's class queue of this level, or to its reserved queue. */
static inline void list_join(struct maps *m, uint32_t flow, uint32_t level) {
	uint32_t group = m->flows[flow].group;
	struct class_queue *c = &m->groups[group].queues[level];

	ring_append(flow_links(m, level), &c->first, flow);
	if (c->count++ == 0)
		group_rejoin(m, group, level);
	if (level == RESERVED)
		m->flows[flow].is_reserved = true;
}

static inline void list_leave(struct maps *m, uint32_t flow, uint32_t level) {
	uint32_t group = m->flows[flow].group;
	struct class_queue *c = &m->groups[group].queues[level];

	ring_remove(flow_links(m, level), &c->first, flow);
	c->left = lesser(c->left, --c->count);
	if (c->count == 0)
		m->levels[level].active[group / 64] &= ~(UINT64_C(1) << group % 64);
	if (level == RESERVED)
		m->flows[flow].is_reserved = false;
}

/* Appends a flow that is owed bytes to its class queue, and to the reserved queue if it has a
 * reserved rate. */
static inline void flow_ready(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];

	f->state = FLOW_READY;
	f->credit = 0;
	list_join(m, flow, f->priority);
	if (f->limits & LIMIT_RESERVED)
		list_join(m, flow, RESERVED);
}

/* Removes a flow from all lists. */
static inline void flow_idle(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];

	if (f->state == FLOW_READY)
		list_leave(m, flow, f->priority);
	else if (f->state == FLOW_PARKED)
		flow_unpark(m, flow);
	if (f->limits & LIMIT_RESERVED)
		reserved_stop(m, flow);
	f->state = FLOW_IDLE;
	f->credit = 0;
}
