/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/round_robin.h"

void class_withdraw(struct scheduler *s, uint32_t class) {
	struct class *c = &s->classes[class];

	if (c->state == CLASS_READY) {
		line_pull(class_links(s), &s->groups[c->group].queues[c->priority].line, class);
		class_queue_leave(s, class_links(s), c->group, c->priority);
	} else if (c->state != CLASS_IDLE) {
		struct modem *m = &s->modems[c->modem];
		struct line *l = c->state == CLASS_BLOCKED ? &m->blocked : &m->blocked_served;

		line_pull(class_links(s), l, class);
		line_pop(class_links(s), l);
	}
	c->state = CLASS_IDLE;
}

void reserve_enter(struct scheduler *s, uint32_t flow, int64_t now) {
	struct reserve *r = &s->reserves[flow];

	if (r->listed)
		return;
	if (r->due > now) {
		wheel_set(&s->wheel, reserve_timer(s, flow), r->due);
		return;
	}
	r->listed = true;
	class_queue_enter(s, reserve_links(s), s->classes[s->flows[flow].class].group, RESERVED,
			  flow);
}

void reserve_leave(struct scheduler *s, uint32_t group) {
	uint32_t flow = s->groups[group].queues[RESERVED].line.first;

	class_queue_leave(s, reserve_links(s), group, RESERVED);
	s->reserves[flow].listed = false;
}

void reserve_withdraw(struct scheduler *s, uint32_t flow) {
	uint32_t group = s->classes[s->flows[flow].class].group;

	if (!s->reserves[flow].listed)
		return;
	line_pull(reserve_links(s), &s->groups[group].queues[RESERVED].line, flow);
	reserve_leave(s, group);
}

void rr_leave(struct scheduler *s, uint32_t flow) {
	const struct flow *f = &s->flows[flow];
	const struct class *c = &s->classes[f->class];

	if (f->state == FLOW_READY) {
		if (c->state != CLASS_READY) /* the packet that others wait for may be gone */
			wheel_set(&s->wheel, modem_timer(s, c->modem), s->now);
		class_leave(s, flow);
		if ((f->rates & FLOW_RESERVATION) != 0)
			wheel_clear(&s->wheel, reserve_timer(s, flow));
	} else if (f->state == FLOW_PARKED) {
		wheel_clear(&s->wheel, flow);
	}
}

void rr_park(struct scheduler *s, uint32_t flow, int64_t until) {
	rr_leave(s, flow);
	s->flows[flow].state = FLOW_PARKED;
	wheel_set(&s->wheel, flow, until);
}

void rr_block(struct scheduler *s, uint32_t class, uint32_t bytes) {
	struct class *c = &s->classes[class];
	struct modem *m = &s->modems[c->modem];
	/* All classes wait for the first one, or shorter packets would always overtake it. */
	bool first = c->served ? modem_is_open(m) : m->blocked.first == NONE;

	class_queue_leave(s, class_links(s), c->group, c->priority);
	line_append(class_links(s), c->served ? &m->blocked_served : &m->blocked, class);
	c->state = c->served ? CLASS_BLOCKED_SERVED : CLASS_BLOCKED;
	c->served = false;
	if (first)
		wheel_set(&s->wheel, modem_timer(s, c->modem), bucket_opens(&m->aggregate, bytes));
}

/* Returns the classes that were blocked to their queues. */
static void classes_release(struct scheduler *s, struct line *blocked) {
	while (blocked->first != NONE) {
		uint32_t class = line_pop(class_links(s), blocked);
		struct class *c = &s->classes[class];

		s->steps -= s->steps > 0;
		c->state = c->flows == NONE ? CLASS_IDLE : CLASS_READY;
		if (c->state == CLASS_READY)
			class_queue_enter(s, class_links(s), c->group, c->priority, class);
	}
}

/* Makes all blocked classes compete again. Those that find too few tokens are blocked again. */
static void modem_open(struct scheduler *s, uint32_t modem) {
	classes_release(s, &s->modems[modem].blocked);
	classes_release(s, &s->modems[modem].blocked_served);
}

static void reserve_due(struct scheduler *s, uint32_t flow, int64_t now) {
	if (s->flows[flow].state == FLOW_READY)
		reserve_enter(s, flow, now);
}

void rr_timer(struct scheduler *s, uint32_t timer, int64_t now) {
	if (timer < s->flow_count)
		rr_enter(s, timer, now);
	else if (timer < modem_timer(s, 0))
		reserve_due(s, timer - reserve_timer(s, 0), now);
	else if (timer < cluster_timer(s, 0))
		modem_open(s, timer - modem_timer(s, 0));
	else
		cluster_wake(s, timer - cluster_timer(s, 0), now);
}
