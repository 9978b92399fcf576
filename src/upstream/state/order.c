/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/state/order.h"

#define HISTORY 64 /* bits of `delivered` */

static uint16_t order_distance(const struct order *o, uint16_t from, uint16_t to) {
	return (uint16_t)((to - from) & o->mask);
}

static bool order_is_behind(const struct order *o, uint16_t number) {
	return order_distance(o, o->next, number) > o->mask / 2;
}

void order_init(struct order *o, uint16_t mask, uint8_t window) {
	*o = (struct order){.mask = mask, .window = window};
}

static void order_step(struct order *o, bool delivered) {
	o->next = (uint16_t)((o->next + 1) & o->mask);
	o->delivered = o->delivered << 1 | delivered;
}

void order_restart(struct order *o, uint16_t number) {
	o->next = number;
	o->delivered = 0;
	o->rejected = 0;
	o->started = true;
}

/* Counts a rejected number. After too many in succession the order restarts. */
static enum order_verdict order_reject(struct order *o, enum order_verdict why) {
	if (o->rejected == ORDER_REJECT_MAX)
		return ORDER_RESTART;
	o->rejected++;
	return why;
}

static enum order_verdict order_behind(struct order *o, uint16_t number) {
	unsigned back = order_distance(o, number, o->next) - 1u;
	bool known = back < HISTORY && (o->delivered >> back & 1) != 0;

	return order_reject(o, known ? ORDER_DUPLICATE : ORDER_LATE);
}

static enum order_verdict order_keep(struct order *o, uint16_t number, struct rte_mbuf *m,
				     bool *reordered) {
	struct rte_mbuf **slot;

	if (o->slots == NULL)
		return ORDER_NO_SLOTS;
	slot = &o->slots->at[number % ORDER_SLOTS];
	if (*slot != NULL)
		return order_reject(o, ORDER_DUPLICATE);
	*slot = m;
	if (o->queued > 0 &&
	    order_distance(o, o->next, number) < order_distance(o, o->next, o->highest))
		*reordered = true;
	else
		o->highest = number;
	o->queued++;
	o->rejected = 0;
	return ORDER_KEPT;
}

enum order_verdict order_offer(struct order *o, uint16_t number, struct rte_mbuf *m,
			       bool *reordered) {
	uint16_t ahead;

	*reordered = false;
	if (!o->started)
		order_restart(o, number);
	if (order_is_behind(o, number))
		return order_behind(o, number);
	ahead = order_distance(o, o->next, number);
	if (ahead > o->window)
		return ORDER_TOO_FAR;
	if (ahead > 0)
		return order_keep(o, number, m, reordered);
	*reordered = o->queued > 0;
	o->rejected = 0;
	order_step(o, true);
	return ORDER_NEXT;
}

struct rte_mbuf *order_pop(struct order *o) {
	struct rte_mbuf **slot, *m;

	if (o->queued == 0)
		return NULL;
	slot = &o->slots->at[o->next % ORDER_SLOTS];
	m = *slot;
	if (m == NULL)
		return NULL;
	*slot = NULL;
	o->queued--;
	order_step(o, true);
	return m;
}

unsigned order_skip(struct order *o, bool has_number, uint16_t number) {
	unsigned skipped = 0;

	if (o->queued == 0) {
		if (!has_number)
			return 0;
		skipped = order_distance(o, o->next, number);
		o->next = number;
		o->delivered = skipped < HISTORY ? o->delivered << skipped : 0;
		return skipped;
	}
	while (o->slots->at[o->next % ORDER_SLOTS] == NULL) {
		order_step(o, false);
		skipped++;
	}
	return skipped;
}
