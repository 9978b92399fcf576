/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks, on the worker, that all packets from before the change have left.
 *
 * Queues and the crypto provider keep the order. So N packets that were inside have left when N
 * more have come out. When the segments have left, the incomplete frames of removed flows are
 * dropped. When the crypto provider's frames have left, their fragments are dropped. Nothing can
 * complete these any more.
 */
#include "upstream/change/internal.h"

/* Whether all packets that were inside at the first call have left. `done` counts those that left,
 * `in_progress` those inside. */
static bool all_flushed(struct us_change *c, uint64_t done, uint32_t in_progress) {
	if (!c->marked)
		c->target = done + in_progress;
	c->marked = in_progress > 0 && done < c->target;
	return !c->marked;
}

static bool bursts_flushed(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct upstream *u = c->u;
	uint64_t done = u->counters.values[COUNTER_SEGMENTS] + u->counters.drops[DROP_UNKNOWN_SID];

	(void)cursor;
	return all_flushed(c, done, u->list.queues[US_BURSTS].count);
}

static bool segments_flushed(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct upstream *u = c->u;
	uint64_t done =
		u->counters.values[COUNTER_EXTRACTED] + u->counters.drops[DROP_SEGMENT_ORPHAN];

	(void)cursor;
	return all_flushed(c, done,
			   u->list.queues[US_SEGMENTS].count + (u->extract.cursor.segment != NULL));
}

static bool frame_removed(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;

	us_frame_drop(&c->u->streams, &c->u->tables.streams[c->old_streams.slots[cursor->at]],
		      DROP_FRAME_FLOW_REMOVED);
	cursor->left -= US_RECORD_NS;
	return true;
}

static bool crypto_flushed(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct upstream *u = c->u;
	uint64_t done = u->counters.values[COUNTER_DECRYPTED] - u->r.crypto->pending;

	(void)cursor;
	return all_flushed(c, done, u->r.crypto->pending);
}

static bool chain_is_freed(struct us_change *c, struct change_cursor *cursor) {
	while (c->free_chain != NULL) {
		struct rte_mbuf *m = c->free_chain;

		if (cursor->left <= 0)
			return false;
		c->free_chain = m->next;
		rte_pktmbuf_free_seg(m);
		cursor->left -= CHANGE_BUFFER_NS;
	}
	return true;
}

static bool fragments_removed(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	struct us_flow *f = &c->u->tables.flows[c->old_flows.slots[cursor->at]];

	if (c->free_chain == NULL) { /* else an earlier step of the worker has removed them */
		c->free_chain = us_fragments_remove(&c->u->defragment, &f->fragments);
		cursor->left -= US_RECORD_NS;
	}
	return chain_is_freed(c, cursor);
}

static bool joined_flushed(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct upstream *u = c->u;

	(void)cursor;
	return all_flushed(c, u->extract_joined.done,
			   u->list.queues[US_JOINED].count +
				   (u->extract_joined.cursor.segment != NULL));
}

static bool requests_flushed(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct us_requests *r = &c->u->requests;

	(void)cursor;
	return all_flushed(c, us_requests_handled(r), rte_ring_count(r->ring));
}

/* Removes former addresses and SIDs of a modem, and its replaced keys, unless a later change has
 * already replaced the record. */
static bool modem_retire(void *change, struct change_cursor *cursor) {
	struct us_change *c = change;
	const struct us_modem_plan *p = &c->modems[cursor->at];
	struct us_tables *t = &c->u->tables;
	struct us_modem *m = &t->modems[p->modem];

	cursor->left -= 2 * US_RECORD_NS;
	if (p->modem_data == NULL || m->change != c->number)
		return true;
	m->ipv4_count = p->modem_data->ipv4_count;
	m->ipv6_count = p->modem_data->ipv6_count;
	m->retired = NULL;
	for (uint32_t f = 0; f < p->modem_data->flow_count; f++) {
		const struct us_modem_data_flow *modem_data = &p->modem_data->flows[f];

		if (modem_data->former_sids == 0)
			continue;
		t->flows[modem_data->flow].sid_count = modem_data->sid_count;
		cursor->left -= US_RECORD_NS;
	}
	return true;
}

CHANGE_COUNT(old_flows, struct us_change, old_flows.count)

bool us_change_flushed(void *change) {
	static const struct change_phase phases[] = {
		{.step = bursts_flushed},
		{.step = segments_flushed},
		{.step = frame_removed, .count = us_old_streams},
		{.step = crypto_flushed},
		{.step = fragments_removed, .count = old_flows},
		{.step = joined_flushed},
		{.step = requests_flushed},
		{.step = modem_retire, .count = us_changed_modems},
	};
	struct us_change *c = change;

	return change_run(&c->flush, phases, RTE_DIM(phases), c, US_STEP_NS);
}
