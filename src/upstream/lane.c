/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/lane.h"

#include <limits.h>

#include "pipeline/change.h"

/* Never runs out: the stage `expire` leaves a spare window for each packet and each burst of a
 * round. */
static struct order_slots *lane_slots_take(struct us_lanes *all) {
	struct order_slots *s = all->free;

	RTE_ASSERT(s != NULL);
	all->free = s->next_free;
	all->in_use++;
	return s;
}

static void lane_slots_release(struct us_lanes *all, struct order *o) {
	if (o->waiting > 0 || o->slots == NULL)
		return;
	o->slots->next_free = all->free;
	all->free = o->slots;
	all->in_use--;
	o->slots = NULL;
}

static struct rte_mbuf *lane_pop(struct us_lanes *all, const struct us_lane *lane) {
	struct rte_mbuf *m = order_pop(lane->order);

	if (m != NULL) {
		hold_remove(all->holds, lane->hold, hold_size(m));
		(*lane->waiting)--;
	}
	return m;
}

static void lane_drain(struct us_lanes *all, const struct us_lane *lane) {
	struct rte_mbuf *m;

	while ((m = lane_pop(all, lane)) != NULL)
		lane->kind->deliver(lane->stage, lane->owner, m);
	lane_slots_release(all, lane->order);
	/* the timer now runs for the next gap */
	hold_renew(all->holds, lane->hold, all->r->clock->now);
}

static void lane_skip(struct us_lanes *all, const struct us_lane *lane, bool has_number,
		      uint16_t number) {
	unsigned missing = order_skip(lane->order, has_number, number);

	if (missing > 0)
		lane->kind->gap(lane->stage, lane->owner, missing);
	lane_drain(all, lane);
}

void us_lane_skip(struct us_lanes *all, const struct us_lane *lane) {
	lane_skip(all, lane, false, 0);
}

static void lane_restart(struct us_lanes *all, const struct us_lane *lane, uint16_t number) {
	while (lane->order->waiting > 0)
		lane_skip(all, lane, false, 0);
	order_restart(lane->order, number);
	lane->kind->gap(lane->stage, lane->owner, 0);
	count(all->counters, lane->kind->resyncs, 1);
}

static void lane_keep(struct us_lanes *all, const struct us_lane *lane, struct rte_mbuf *m) {
	hold_add(all->holds, lane->hold, hold_size(m), all->r->clock->now);
	(*lane->waiting)++;
}

void us_lane_put(struct us_lanes *all, const struct us_lane *lane, uint16_t number,
		 struct rte_mbuf *m) {
	struct order *o = lane->order;
	bool reordered;

	order_time(o, all->r->clock->now);
	for (;;) {
		enum order_verdict verdict = order_take(o, number, m, &reordered);

		count(all->counters, lane->kind->reordered, reordered);
		switch (verdict) {
		case ORDER_NEXT:
			lane->kind->deliver(lane->stage, lane->owner, m);
			if (o->waiting > 0)
				lane_drain(all, lane);
			return;
		case ORDER_WAITS: lane_keep(all, lane, m); return;
		case ORDER_DUPLICATE: drop(all->counters, m, lane->kind->duplicate); return;
		case ORDER_LATE: drop(all->counters, m, lane->kind->late); return;
		case ORDER_TOO_FAR: lane_skip(all, lane, true, number); break;
		case ORDER_RESTART: lane_restart(all, lane, number); break;
		case ORDER_NO_SLOTS: o->slots = lane_slots_take(all); break;
		}
	}
}

bool us_lane_drop(struct us_lanes *all, const struct us_lane *lane, enum drop_reason reason,
		  int *budget) {
	struct rte_mbuf *m;

	while (lane->order->waiting > 0) {
		if (*budget <= 0)
			return false;
		order_skip(lane->order, false, 0);
		m = lane_pop(all, lane);
		*budget -= CHANGE_BUFFER_NS * m->nb_segs;
		drop(all->counters, m, reason);
	}
	lane_slots_release(all, lane->order);
	return true;
}

void us_lane_stop(struct us_lanes *all, const struct us_lane *lane, enum drop_reason reason) {
	int budget = INT_MAX;

	us_lane_drop(all, lane, reason, &budget);
}
