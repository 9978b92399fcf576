/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of flows: class queues, reserved queue and parked ring of each group. */
#include "scheduler/maps/internal.h"

static struct links flow_links(const struct maps *m, uint32_t level) {
	if (level == RESERVED)
		return (struct links){&m->flows[0].reserved, sizeof(*m->flows)};
	return (struct links){&m->flows[0].link, sizeof(*m->flows)};
}

/* Appends to the parked ring of the flow's group. */
static void park(struct maps *m, uint32_t flow) {
	uint32_t group = m->flows[flow].group;

	ring_append(flow_links(m, 0), &m->groups[group].parked, flow);
	m->parking[group / 64] |= UINT64_C(1) << group % 64;
}

static void unpark(struct maps *m, uint32_t flow) {
	uint32_t group = m->flows[flow].group;

	ring_remove(flow_links(m, 0), &m->groups[group].parked, flow);
	if (m->groups[group].parked == NONE)
		m->parking[group / 64] &= ~(UINT64_C(1) << group % 64);
}

/* A group that competes again has no credit from before, and a lead of at most MAX_LEAD rounds. */
static void group_rejoin(struct maps *m, uint32_t group, uint32_t level) {
	struct level *l = &m->levels[level];
	struct class_queue *c = &m->groups[group].queues[level];

	if (c->round < l->served)
		c->round = l->served;
	else if (c->round > l->served + MAX_LEAD)
		c->round = l->served + MAX_LEAD;
	c->left = c->count;
	l->active[group / 64] |= UINT64_C(1) << group % 64;
}

void list_join(struct maps *m, uint32_t flow, uint32_t level) {
	uint32_t group = m->flows[flow].group;
	struct class_queue *c = &m->groups[group].queues[level];

	ring_append(flow_links(m, level), &c->first, flow);
	if (c->count++ == 0)
		group_rejoin(m, group, level);
	if (level == RESERVED)
		m->flows[flow].is_reserved = true;
}

void list_leave(struct maps *m, uint32_t flow, uint32_t level) {
	uint32_t group = m->flows[flow].group;
	struct class_queue *c = &m->groups[group].queues[level];

	ring_remove(flow_links(m, level), &c->first, flow);
	c->left = lesser(c->left, --c->count);
	if (c->count == 0)
		m->levels[level].active[group / 64] &= ~(UINT64_C(1) << group % 64);
	if (level == RESERVED)
		m->flows[flow].is_reserved = false;
}

void flow_ready(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];

	f->state = FLOW_READY;
	f->credit = 0;
	list_join(m, flow, f->priority);
	if (f->limits & LIMIT_RESERVED)
		list_join(m, flow, RESERVED);
}

void flow_idle(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];

	if (f->state == FLOW_PARKED) {
		unpark(m, flow);
		timers_clear(&m->timers, timer_of(m, TIMER_RATE, flow));
	} else if (f->state == FLOW_READY) {
		list_leave(m, flow, f->priority);
		if (f->is_reserved)
			list_leave(m, flow, RESERVED);
	}
	if (f->limits & LIMIT_RESERVED)
		timers_clear(&m->timers, timer_of(m, TIMER_RESERVED, flow));
	f->state = FLOW_IDLE;
	f->credit = 0;
}

void flow_park(struct maps *m, uint32_t flow, uint64_t until) {
	struct flow *f = &m->flows[flow];

	flow_idle(m, flow);
	f->state = FLOW_PARKED;
	park(m, flow);
	timers_set(&m->timers, timer_of(m, TIMER_RATE, flow), until);
}

void flow_switch(struct maps *m, uint32_t flow) {
	struct flow *f = &m->flows[flow];
	uint32_t base = flow * MAPS_MAX_CLUSTERS;

	flow_idle(m, flow);
	do
		f->cluster = (uint8_t)((f->cluster + 1u) % f->clusters);
	while (m->cluster_owed[base + f->cluster] == 0);
	f->owed_here = m->cluster_owed[base + f->cluster];
	m->cluster_owed[base + f->cluster] = 0;
	f->group = m->cluster_groups[base + f->cluster];
	flow_ready(m, flow);
}
