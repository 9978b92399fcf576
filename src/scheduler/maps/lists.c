/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of flows: what few requests and grants call. */
#include "scheduler/maps/lists.h"

/* A group that competes again has no credit from before, and a lead of at most MAX_LEAD rounds. */
void group_rejoin(struct maps *m, uint32_t group, uint32_t level) {
	struct level *l = &m->levels[level];
	struct class_queue *c = &m->queues[queue_index(group, level)];

	if (c->round < l->served)
		c->round = l->served;
	else if (c->round > l->served + MAX_LEAD)
		c->round = l->served + MAX_LEAD;
	c->left = c->count;
	l->active[group / 64] |= UINT64_C(1) << group % 64;
}

void group_rest(struct maps *m, uint32_t group, uint32_t level) {
	m->levels[level].active[group / 64] &= ~(UINT64_C(1) << group % 64);
}

void reserved_join(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];
	struct class_queue *c = &m->queues[queue_index(f->group, RESERVED)];

	f->is_reserved = true;
	ring_append(reserved_links(m), &c->first, flow);
	if (c->count++ == 0)
		group_rejoin(m, f->group, RESERVED);
}

void reserved_leave(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];
	struct class_queue *c = &m->queues[queue_index(f->group, RESERVED)];

	f->is_reserved = false;
	ring_remove(reserved_links(m), &c->first, flow);
	c->left = lesser(c->left, --c->count);
	if (c->count == 0)
		group_rest(m, f->group, RESERVED);
}

void reserved_stop(struct maps *m, uint32_t flow) {
	if (m->flows[flow].is_reserved)
		reserved_leave(m, flow);
	timers_clear(&m->timers, timer_of(m, TIMER_RESERVED, flow));
}

void flow_park(struct maps *m, uint32_t flow, uint64_t until) {
	uint32_t group = m->flows[flow].group;

	flow_idle(m, flow);
	m->flows[flow].state = FLOW_PARKED;
	ring_append(flow_links(m), &m->groups[group].parked, flow);
	m->parking[group / 64] |= UINT64_C(1) << group % 64;
	timers_set(&m->timers, timer_of(m, TIMER_RATE, flow), until);
}

void flow_unpark(struct maps *m, uint32_t flow) {
	uint32_t group = m->flows[flow].group;

	ring_remove(flow_links(m), &m->groups[group].parked, flow);
	if (m->groups[group].parked == NONE)
		m->parking[group / 64] &= ~(UINT64_C(1) << group % 64);
	timers_clear(&m->timers, timer_of(m, TIMER_RATE, flow));
}

void flow_switch(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];
	uint32_t *owed = &m->cluster_owed[flow * MAPS_MAX_CLUSTERS];
	uint8_t next = f->cluster;

	flow_idle(m, flow);
	do
		next = (uint8_t)((next + 1u) % f->clusters);
	while (owed[next] == 0);
	f->owed_here = owed[next];
	owed[next] = 0;
	flow_set_cluster(m, flow, next);
	flow_ready(m, flow);
}
