/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classify: the first of the modem's classifiers that matches names the service flow; where none
 * does it is the modem's primary one. One rte_acl call a family and burst. What was found out about a
 * flow that was not known is kept for its next packet.
 */
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

struct questions {
	const uint8_t *keys[PIPELINE_BURST];
	struct packet_meta *packets[PIPELINE_BURST];
	uint32_t n;
};

static void learn(struct ds_upper *u, const struct packet_meta *meta, bool classified) {
	const struct ds_row *row = &u->rows[meta->row];
	struct flow_record *r;

	if (!ds_keeps_flow(u, row))
		return;
	r = flow_cache_learn(&u->flow_cache, &row->key.flow, row->hash);
	if (r == NULL)
		return;
	r->modem = meta->modem;
	r->flow = meta->flow;
	r->cpe_period = (uint32_t)u->cpe_period; /* modem_lookup has just admitted it */
	r->address = row->address;
	r->filter = row->filter;
	memcpy(r->mac, row->modem->mac, sizeof(r->mac));
	r->classified = classified;
}

static uint32_t answer(struct ds_upper *u, enum rule_family family, struct questions *q) {
	uint32_t results[PIPELINE_BURST];
	uint32_t matched = 0;

	rules_match(&u->classifiers, family, q->keys, results, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		struct packet_meta *meta = q->packets[i];
		uint32_t primary = u->tables->modems[meta->modem].first_flow;

		meta->flow = results[i] ? primary + results[i] - 1 : primary;
		matched += results[i] != 0;
		learn(u, meta, results[i] != 0);
	}
	return matched;
}

uint16_t ds_classify(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct questions questions[RULE_FAMILIES];
	uint32_t matched = 0;

	for (int f = 0; f < RULE_FAMILIES; f++)
		questions[f].n = 0;
	for (uint16_t i = 0; i < n; i++) {
		struct packet_meta *meta = packet_meta(pkts[i]);
		struct ds_row *row = &u->rows[meta->row];
		struct questions *q = &questions[row->key.flow.family];

		if (row->known != NULL) {
			meta->flow = row->known->flow;
			matched += row->known->classified;
			continue;
		}
		rule_key_set(&row->key, meta->modem);
		q->keys[q->n] = (const uint8_t *)&row->key;
		q->packets[q->n++] = meta;
	}
	for (int f = 0; f < RULE_FAMILIES; f++)
		matched += answer(u, (enum rule_family)f, &questions[f]);
	count(&u->counters, COUNTER_CLASSIFIER_MATCHED, matched);
	count(&u->counters, COUNTER_CLASSIFIER_UNMATCHED, n - matched);
	return n;
}
