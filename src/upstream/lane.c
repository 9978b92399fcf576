/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/lane.h"

#include <limits.h>

#include "pipeline/change.h"
#include "upstream/upstream.h"

/* There is one: the row `expire` leaves a spare one for each packet and each burst that a round takes. */
static struct order_slots *lane_slots_take(struct upstream *u) {
	struct order_slots *s = u->slots.free;

	RTE_ASSERT(s != NULL);
	u->slots.free = s->next_free;
	u->slots.in_use++;
	return s;
}

static void lane_slots_release(struct upstream *u, struct order *o) {
	if (o->waiting > 0 || o->slots == NULL)
		return;
	o->slots->next_free = u->slots.free;
	u->slots.free = o->slots;
	u->slots.in_use--;
	o->slots = NULL;
}

static struct rte_mbuf *lane_pop(struct upstream *u, const struct us_lane *lane) {
	struct rte_mbuf *m = order_pop(lane->order);

	if (m != NULL) {
		hold_remove(&u->holds, lane->hold, hold_size(m));
		(*lane->waiting)--;
	}
	return m;
}

static void lane_drain(struct upstream *u, const struct us_lane *lane) {
	struct rte_mbuf *m;

	while ((m = lane_pop(u, lane)) != NULL)
		lane->kind->deliver(u, lane->owner, m);
	lane_slots_release(u, lane->order);
	hold_renew(&u->holds, lane->hold, u->r.clock->now); /* another gap is the first now */
}

static void lane_skip(struct upstream *u, const struct us_lane *lane, bool has_number,
		      uint16_t number) {
	unsigned missing = order_skip(lane->order, has_number, number);

	if (missing > 0)
		lane->kind->gap(u, lane->owner, missing);
	lane_drain(u, lane);
}

void us_lane_skip(struct upstream *u, const struct us_lane *lane) {
	lane_skip(u, lane, false, 0);
}

static void lane_restart(struct upstream *u, const struct us_lane *lane, uint16_t number) {
	while (lane->order->waiting > 0)
		lane_skip(u, lane, false, 0);
	order_restart(lane->order, number);
	lane->kind->gap(u, lane->owner, 0);
	count(&u->counters, lane->kind->resyncs, 1);
}

static void lane_keep(struct upstream *u, const struct us_lane *lane, struct rte_mbuf *m) {
	hold_add(&u->holds, lane->hold, hold_size(m), u->r.clock->now);
	(*lane->waiting)++;
}

void us_lane_put(struct upstream *u, const struct us_lane *lane, uint16_t number,
		 struct rte_mbuf *m) {
	struct order *o = lane->order;
	bool reordered;

	order_time(o, u->r.clock->now);
	for (;;) {
		enum order_verdict verdict = order_take(o, number, m, &reordered);

		count(&u->counters, lane->kind->reordered, reordered);
		switch (verdict) {
		case ORDER_NEXT:
			lane->kind->deliver(u, lane->owner, m);
			if (o->waiting > 0)
				lane_drain(u, lane);
			return;
		case ORDER_WAITS: lane_keep(u, lane, m); return;
		case ORDER_DUPLICATE: drop(&u->counters, m, lane->kind->duplicate); return;
		case ORDER_LATE: drop(&u->counters, m, lane->kind->late); return;
		case ORDER_TOO_FAR: lane_skip(u, lane, true, number); break;
		case ORDER_RESTART: lane_restart(u, lane, number); break;
		case ORDER_NO_SLOTS: o->slots = lane_slots_take(u); break;
		}
	}
}

bool us_lane_drop(struct upstream *u, const struct us_lane *lane, enum drop_reason reason,
		  int *budget) {
	struct rte_mbuf *m;

	while (lane->order->waiting > 0) {
		if (*budget <= 0)
			return false;
		order_skip(lane->order, false, 0);
		m = lane_pop(u, lane);
		*budget -= CHANGE_BUFFER_NS * m->nb_segs;
		drop(&u->counters, m, reason);
	}
	lane_slots_release(u, lane->order);
	return true;
}

void us_lane_stop(struct upstream *u, const struct us_lane *lane, enum drop_reason reason) {
	int budget = INT_MAX;

	us_lane_drop(u, lane, reason, &budget);
}
