/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaving, by the worker between two rounds. Queues and the crypto provider give out in the order in which they took:
 * what was there has passed when so many more have come out. Behind each of them stands what may have got a part
 * from there: segments complete frames, the crypto provider gives fragments. What is incomplete then stays so.
 */
#include "upstream/change/internal.h"

/* Whether `done` has risen by the `there` that it was when first asked, or nothing is there. */
static bool all_passed(struct us_change *c, uint64_t done, uint32_t there) {
	if (!c->marked)
		c->target = done + there;
	c->marked = there > 0 && done < c->target;
	return !c->marked;
}

static bool bursts_passed(struct us_change *c) {
	const struct upstream *u = c->u;
	uint64_t done = u->counters.values[COUNTER_SEGMENTS] + u->counters.drops[DROP_UNKNOWN_SID];

	return all_passed(c, done, u->list.queues[US_BURSTS].count);
}

static bool segments_passed(struct us_change *c) {
	const struct upstream *u = c->u;
	uint64_t done =
		u->counters.values[COUNTER_EXTRACTED] + u->counters.drops[DROP_SEGMENT_ORPHAN];

	return all_passed(c, done,
			  u->list.queues[US_SEGMENTS].count + (u->extract.cut.segment != NULL));
}

static bool frames_removed(struct us_change *c) {
	for (; c->at < c->old_streams.count; c->at++) {
		if (c->budget-- <= 0)
			return false;
		us_frame_drop(c->u, &c->u->tables.streams[c->old_streams.places[c->at]],
			      DROP_FRAME_FLOW_REMOVED);
	}
	c->at = 0;
	return true;
}

static bool crypto_passed(struct us_change *c) {
	const struct upstream *u = c->u;
	uint64_t done = u->counters.values[COUNTER_DECRYPTED] - u->r.crypto->held;

	return all_passed(c, done, u->r.crypto->held);
}

static bool rest_freed(struct us_change *c) {
	while (c->rest != NULL) {
		struct rte_mbuf *m = c->rest;

		if (c->budget-- <= 0)
			return false;
		c->rest = m->next;
		rte_pktmbuf_free_seg(m);
	}
	return true;
}

static bool fragments_removed(struct us_change *c) {
	for (; c->at < c->old_flows.count; c->at++) {
		if (!rest_freed(c) || c->budget-- <= 0)
			return false;
		c->rest = us_fragments_remove(
			c->u, &c->u->tables.flows[c->old_flows.places[c->at]].fragments);
	}
	if (!rest_freed(c))
		return false;
	c->at = 0;
	return true;
}

static bool joined_passed(struct us_change *c) {
	const struct upstream *u = c->u;

	return all_passed(c, u->extract_joined.done,
			  u->list.queues[US_JOINED].count +
				  (u->extract_joined.cut.segment != NULL));
}

static bool requests_passed(struct us_change *c) {
	const struct us_requests *r = &c->u->requests;

	return all_passed(c, us_requests_taken(r), rte_ring_count(r->ring));
}

/* Addresses and SIDs that a modem had before are no more its own; keys that were replaced are unknown. Not where
 * another change has come since, which shows them no more. */
static void modem_forgets(struct us_change *c, const struct us_modem_plan *p) {
	struct us_tables *t = &c->u->tables;
	struct us_modem *m = &t->modems[p->modem];

	c->budget -= 2;
	if (p->own == NULL || m->change != c->number)
		return;
	m->ipv4_count = p->own->ipv4_count;
	m->ipv6_count = p->own->ipv6_count;
	m->retired = NULL;
	for (uint32_t f = 0; f < p->own->flow_count; f++) {
		const struct us_own_flow *own = &p->own->flows[f];

		if (own->former_sids == 0)
			continue;
		t->flows[own->flow].sid_count = own->sid_count;
		c->budget--;
	}
}

static bool modems_forget(struct us_change *c) {
	for (; c->at < c->modem_count; c->at++) {
		if (c->budget <= 0)
			return false;
		modem_forgets(c, &c->modems[c->at]);
	}
	return true;
}

bool us_change_passed(void *change) {
	static bool (*const phases[])(struct us_change *c) = {
		bursts_passed,	   segments_passed, frames_removed,  crypto_passed,
		fragments_removed, joined_passed,   requests_passed, modems_forget,
	};
	struct us_change *c = change;

	c->budget = US_STEP_BUDGET;
	for (; c->phase < RTE_DIM(phases); c->phase++) {
		if (!phases[c->phase](c))
			return false;
	}
	return true;
}
