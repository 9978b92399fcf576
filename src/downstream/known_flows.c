/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known flows: what was found out about an earlier packet of the same flow holds for this one. Such
 * packets are done here; for the others modem_lookup, filter and classify find out, which only see those.
 */
#include <string.h>

#include "downstream/cpe.h"
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

/* What the packets of a burst count for. */
struct seen {
	uint32_t packets, permitted, classified;
};

/* Does with a packet what the three stages would; those that filters deny are in no record. */
static void take(struct rte_mbuf *m, const struct flow_record *r, struct seen *seen) {
	struct packet_meta *meta = packet_meta(m);

	meta->modem = r->modem;
	meta->flow = r->flow;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), r->mac, sizeof(r->mac));
	seen->packets++;
	seen->permitted += r->filter != 0;
	seen->classified += r->classified;
}

static void count_seen(struct ds_upper *u, const struct seen *seen) {
	struct counters *c = &u->counters;

	count(c, COUNTER_LOOKUP_MATCHED, seen->packets);
	count(c, COUNTER_FILTER_MATCHED_PERMIT, seen->permitted);
	count(c, COUNTER_FILTER_UNMATCHED, seen->packets - seen->permitted);
	count(c, COUNTER_CLASSIFIER_MATCHED, seen->classified);
	count(c, COUNTER_CLASSIFIER_UNMATCHED, seen->packets - seen->classified);
}

static void hash_all(struct ds_upper *u, uint16_t n) {
	struct flow_cache *c = &u->flow_cache;

	for (uint16_t i = 0; i < n; i++) {
		struct ds_row *row = &u->rows[i];

		if (!ds_keeps_flow(u, row))
			continue;
		row->hash = flow_cache_hash(&row->key.flow);
		flow_cache_prefetch(c, row->hash, false);
	}
}

/* An address that was admitted in this period is so to its end. In another one packets have to be admitted
 * in their order, known or not, and so the record is as good as none. */
static const struct flow_record *find(const struct ds_upper *u, const struct ds_row *row,
				      bool second, uint64_t period) {
	const struct flow_record *r;

	if (!ds_keeps_flow(u, row))
		return NULL;
	r = flow_cache_find(&u->flow_cache, &row->key.flow, row->hash, second);
	return r != NULL && r->cpe_period == (uint32_t)period ? r : NULL;
}

/* The rows whose first place has no record: few, so that their second one is fetched for them alone. */
static uint16_t look_first(struct ds_upper *u, struct rte_mbuf **pkts, uint16_t n, uint64_t period,
			   struct ds_row **rest, struct seen *seen) {
	uint16_t count = 0;

	for (uint16_t i = 0; i < n; i++) { /* packet i has row i, as parse left them */
		struct ds_row *row = &u->rows[i];
		const struct flow_record *r = find(u, row, false, period);

		if (r != NULL) {
			take(pkts[i], r, seen);
			continue;
		}
		if (ds_keeps_flow(u, row))
			flow_cache_prefetch(&u->flow_cache, row->hash, true);
		row->at = i;
		rest[count++] = row;
	}
	return count;
}

uint16_t ds_known_flows(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct ds_row *rest[PIPELINE_BURST];
	uint64_t period = cpe_period(u);
	struct seen seen = {0};
	uint16_t count;

	flow_cache_begin(&u->flow_cache);
	hash_all(u, n);
	count = look_first(u, pkts, n, period, rest, &seen);
	u->unknown_count = 0;
	for (uint16_t i = 0; i < count; i++) {
		const struct flow_record *r = find(u, rest[i], true, period);

		if (r != NULL)
			take(pkts[rest[i]->at], r, &seen);
		else
			u->unknown[u->unknown_count++] = rest[i];
	}
	count_seen(u, &seen);
	return n;
}
