/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/reorder.h"

#include <limits.h>

#include "pipeline/change.h"

/* Never runs out: the stage `expire` leaves a spare window for each packet and each burst of a
 * round. */
static struct order_slots *reorder_slots_alloc(struct us_reorder_set *all) {
	struct order_slots *s = all->free;

	RTE_ASSERT(s != NULL);
	all->free = s->next_free;
	all->in_use++;
	return s;
}

static void reorder_slots_release(struct us_reorder_set *all, struct order *o) {
	if (o->queued > 0 || o->slots == NULL)
		return;
	o->slots->next_free = all->free;
	all->free = o->slots;
	all->in_use--;
	o->slots = NULL;
}

static struct rte_mbuf *reorder_pop(struct us_reorder_set *all, const struct us_reorder *reorder) {
	struct rte_mbuf *m = order_pop(reorder->order);

	if (m != NULL) {
		pending_remove(all->pending_set, reorder->pending, pending_size(m));
		(*reorder->queued)--;
	}
	return m;
}

static void reorder_drain(struct us_reorder_set *all, const struct us_reorder *reorder) {
	struct rte_mbuf *m;

	while ((m = reorder_pop(all, reorder)) != NULL)
		reorder->kind->deliver(reorder->stage, reorder->owner, m);
	reorder_slots_release(all, reorder->order);
	/* the timer now runs for the next gap */
	pending_restart(all->pending_set, reorder->pending, all->r->clock->now);
}

static void reorder_skip(struct us_reorder_set *all, const struct us_reorder *reorder,
			 bool has_number, uint16_t number) {
	unsigned missing = order_skip(reorder->order, has_number, number);

	if (missing > 0)
		reorder->kind->gap(reorder->stage, reorder->owner, missing);
	reorder_drain(all, reorder);
}

void us_reorder_skip(struct us_reorder_set *all, const struct us_reorder *reorder) {
	reorder_skip(all, reorder, false, 0);
}

static void reorder_restart(struct us_reorder_set *all, const struct us_reorder *reorder,
			    uint16_t number) {
	while (reorder->order->queued > 0)
		reorder_skip(all, reorder, false, 0);
	order_restart(reorder->order, number);
	reorder->kind->gap(reorder->stage, reorder->owner, 0);
	count(all->counters, reorder->kind->resyncs, 1);
}

static void reorder_keep(struct us_reorder_set *all, const struct us_reorder *reorder,
			 struct rte_mbuf *m) {
	pending_add(all->pending_set, reorder->pending, pending_size(m), all->r->clock->now);
	(*reorder->queued)++;
}

void us_reorder_put(struct us_reorder_set *all, const struct us_reorder *reorder, uint16_t number,
		    struct rte_mbuf *m) {
	struct order *o = reorder->order;
	bool reordered;

	order_time(o, all->r->clock->now);
	for (;;) {
		enum order_verdict verdict = order_offer(o, number, m, &reordered);

		count(all->counters, reorder->kind->reordered, reordered);
		switch (verdict) {
		case ORDER_NEXT:
			reorder->kind->deliver(reorder->stage, reorder->owner, m);
			if (o->queued > 0)
				reorder_drain(all, reorder);
			return;
		case ORDER_KEPT: reorder_keep(all, reorder, m); return;
		case ORDER_DUPLICATE: drop(all->counters, m, reorder->kind->duplicate); return;
		case ORDER_LATE: drop(all->counters, m, reorder->kind->late); return;
		case ORDER_TOO_FAR: reorder_skip(all, reorder, true, number); break;
		case ORDER_RESTART: reorder_restart(all, reorder, number); break;
		case ORDER_NO_SLOTS: o->slots = reorder_slots_alloc(all); break;
		}
	}
}

bool us_reorder_drop(struct us_reorder_set *all, const struct us_reorder *reorder,
		     enum drop_reason reason, int *budget) {
	struct rte_mbuf *m;

	while (reorder->order->queued > 0) {
		if (*budget <= 0)
			return false;
		order_skip(reorder->order, false, 0);
		m = reorder_pop(all, reorder);
		*budget -= CHANGE_BUFFER_NS * m->nb_segs;
		drop(all->counters, m, reason);
	}
	reorder_slots_release(all, reorder->order);
	return true;
}

void us_reorder_stop(struct us_reorder_set *all, const struct us_reorder *reorder,
		     enum drop_reason reason) {
	int budget = INT_MAX;

	us_reorder_drop(all, reorder, reason, &budget);
}
