/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of flows: class queues, reserved queue and parked ring of each group. Requests and grants call
 * these functions, which are inline as they are short. */
#pragma once

#include "scheduler/maps/internal.h"

static inline struct links flow_links(const struct maps *m) {
	return (struct links){&m->flows[0].link, sizeof(*m->flows)};
}

static inline struct links reserved_links(const struct maps *m) {
	return (struct links){&m->flows[0].reserved, sizeof(*m->flows)};
}

static inline void class_join(struct maps *m, uint32_t flow) {
	const struct flow *f = &m->flows[flow];
	struct class_queue *c = &m->queues[f->queue];

	ring_append(flow_links(m), &c->first, flow);
	if (c->count++ == 0)
		group_rejoin(m, f->group, f->priority);
}

static inline void class_leave(struct maps *m, uint32_t flow) {
	const struct flow *f = &m->flows[flow];
	struct class_queue *c = &m->queues[f->queue];

	ring_remove(flow_links(m), &c->first, flow);
	c->left = lesser(c->left, --c->count);
	if (c->count == 0)
		group_rest(m, f->group, f->priority);
}

/* Moves a flow that is in no list to the group of its cluster. */
static inline void flow_set_cluster(struct maps *m, uint32_t flow, uint8_t cluster) {
	struct flow *f = &m->flows[flow];

	f->cluster = cluster;
	f->group = m->cluster_groups[flow * MAPS_MAX_CLUSTERS + cluster];
	f->queue = (uint16_t)queue_index(f->group, f->priority);
}

/* Appends a flow that is owed bytes to its class queue, and to the reserved queue if it has a
 * reserved rate. */
static inline void flow_ready(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];

	f->state = FLOW_READY;
	class_join(m, flow);
	if (f->limits & LIMIT_RESERVED)
		reserved_join(m, flow);
}

/* Removes a flow from all lists. */
static inline void flow_idle(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];

	if (f->state == FLOW_READY)
		class_leave(m, flow);
	else if (f->state == FLOW_PARKED)
		flow_unpark(m, flow);
	if (f->limits & LIMIT_RESERVED)
		reserved_stop(m, flow);
	f->state = FLOW_IDLE;
	f->credit = 0;
}
