/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/turns.h"

static void cluster_awake(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];

	if (c->awake_count == 0)
		ring_append(cluster_links(s), &s->working, g->cluster);
	g->place = c->awake_count;
	c->awake[c->awake_count++] = group;
}

static void cluster_asleep(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];
	uint32_t last = c->awake[--c->awake_count];

	c->awake[g->place] = last;
	s->groups[last].place = g->place;
	g->place = NONE;
	if (c->awake_count == 0)
		ring_remove(cluster_links(s), &s->working, g->cluster);
}

static struct links column_links(const struct scheduler *s, unsigned column) {
	return column == RESERVED ? flow_links(s) : class_links(s);
}

static void column_enter(struct scheduler *s, uint32_t group, unsigned column, uint32_t i) {
	struct group *g = &s->groups[group];
	struct column *c = &g->columns[column];

	ring_append(column_links(s, column), &c->first, i);
	if (c->count++ == 0) {
		c->turns_left = 1;
		c->round = s->clusters[g->cluster].rounds[column];
		if (g->waiting == 0)
			cluster_awake(s, group);
		g->waiting |= 1u << column;
	}
}

static void column_leave(struct scheduler *s, uint32_t group, unsigned column, uint32_t i) {
	struct group *g = &s->groups[group];
	struct column *c = &g->columns[column];

	ring_remove(column_links(s, column), &c->first, i);
	if (--c->count == 0) {
		g->waiting &= ~(1u << column);
		if (g->waiting == 0 && g->place != NONE)
			cluster_asleep(s, group);
		else if (g->waiting == 0)
			wheel_clear(&s->wheel, group_timer(s, group));
	}
}

static void round_end(struct scheduler *s, const struct group *g, unsigned column,
		      struct column *c) {
	uint32_t *furthest = &s->clusters[g->cluster].rounds[column];

	c->turns_left = c->count;
	c->round++;
	if ((int32_t)(*furthest - c->round) > MAX_LAG)
		c->round = *furthest - MAX_LAG;
	else if ((int32_t)(c->round - *furthest) > 0)
		*furthest = c->round;
}

void turns_pass(struct scheduler *s, struct group *g, unsigned column) {
	struct column *c = &g->columns[column];

	ring_rotate(column_links(s, column), &c->first);
	if (--c->turns_left == 0)
		round_end(s, g, column, c);
}

/* One that leaves has had its turn, too. */
static void turn_lost(struct scheduler *s, struct group *g, unsigned column) {
	struct column *c = &g->columns[column];

	if (c->count > 0 && --c->turns_left == 0)
		round_end(s, g, column, c);
}

static void class_enter(struct scheduler *s, uint32_t flow) {
	struct flow *f = &s->flows[flow];
	struct class *c = &s->classes[f->class];

	f->state = FLOW_READY;
	f->credit = (int32_t)f->quantum;
	ring_append(flow_links(s), &c->flows, flow);
	if (c->state != CLASS_IDLE)
		return;
	c->state = CLASS_READY;
	c->credit = QUANTUM;
	column_enter(s, c->group, c->priority, f->class);
}

static void class_leave(struct scheduler *s, uint32_t flow) {
	uint32_t class = s->flows[flow].class;
	struct class *c = &s->classes[class];
	struct modem *m;

	ring_remove(flow_links(s), &c->flows, flow);
	if (c->flows != NONE)
		return;
	if (c->state == CLASS_READY) {
		column_leave(s, c->group, c->priority, class);
		turn_lost(s, &s->groups[c->group], c->priority);
	} else {
		m = &s->modems[c->modem];
		ring_remove(class_links(s), &m->blocked, class);
		if (m->blocked == NONE)
			wheel_clear(&s->wheel, modem_timer(s, c->modem));
	}
	c->state = CLASS_IDLE;
}

void turns_enter(struct scheduler *s, uint32_t flow, int64_t now) {
	struct flow *f = &s->flows[flow];

	if (f->has_reserved) {
		int64_t due = s->reserves[flow].due;

		if (due <= now) {
			f->state = FLOW_RESERVED;
			column_enter(s, s->classes[f->class].group, RESERVED, flow);
			return;
		}
		wheel_set(&s->wheel, reserve_timer(s, flow), due);
	}
	class_enter(s, flow);
}

void turns_leave(struct scheduler *s, uint32_t flow) {
	const struct flow *f = &s->flows[flow];
	uint32_t group = s->classes[f->class].group;

	if (f->state == FLOW_READY) {
		class_leave(s, flow);
		if (f->has_reserved)
			wheel_clear(&s->wheel, reserve_timer(s, flow));
	} else if (f->state == FLOW_RESERVED) {
		column_leave(s, group, RESERVED, flow);
		turn_lost(s, &s->groups[group], RESERVED);
	} else if (f->state == FLOW_PARKED) {
		wheel_clear(&s->wheel, flow);
	}
}

void turns_park(struct scheduler *s, uint32_t flow, int64_t until) {
	turns_leave(s, flow);
	s->flows[flow].state = FLOW_PARKED;
	wheel_set(&s->wheel, flow, until);
}

void turns_block(struct scheduler *s, uint32_t class, uint32_t bytes) {
	struct class *c = &s->classes[class];
	struct modem *m = &s->modems[c->modem];

	column_leave(s, c->group, c->priority, class);
	turn_lost(s, &s->groups[c->group], c->priority);
	c->state = CLASS_BLOCKED;
	if (m->blocked == NONE)
		wheel_set(&s->wheel, modem_timer(s, c->modem), bucket_opens(&m->aggregate, bytes));
	ring_append(class_links(s), &m->blocked, class);
}

/* All blocked classes compete again; those that come too late will be blocked once more. */
static void modem_open(struct scheduler *s, uint32_t modem) {
	struct modem *m = &s->modems[modem];

	while (m->blocked != NONE) {
		uint32_t class = m->blocked;
		struct class *c = &s->classes[class];

		ring_remove(class_links(s), &m->blocked, class);
		c->state = CLASS_READY;
		column_enter(s, c->group, c->priority, class);
	}
}

void turns_sleep(struct scheduler *s, uint32_t group, int64_t until) {
	cluster_asleep(s, group);
	wheel_set(&s->wheel, group_timer(s, group), until);
}

/* A packet of the flow is due by its reserved rate. */
static void reserve_due(struct scheduler *s, uint32_t flow, int64_t now) {
	if (s->flows[flow].state != FLOW_READY)
		return;
	if (s->reserves[flow].due > now) { /* it has had some meanwhile */
		wheel_set(&s->wheel, reserve_timer(s, flow), s->reserves[flow].due);
		return;
	}
	class_leave(s, flow);
	turns_enter(s, flow, now);
}

void turns_timer(struct scheduler *s, uint32_t timer, int64_t now) {
	if (timer < s->flow_count)
		turns_enter(s, timer, now);
	else if (timer < reserve_timer(s, s->flow_count))
		reserve_due(s, timer - s->flow_count, now);
	else if (timer < modem_timer(s, s->modem_count))
		modem_open(s, timer - modem_timer(s, 0));
	else
		cluster_awake(s, timer - group_timer(s, 0));
}
