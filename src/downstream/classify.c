/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classify: the first of the modem's classifiers that matches names the service flow; where none
 * does it is the modem's primary one. One rte_acl call a family and burst. What was found out is kept
 * for the next packet of the flow.
 */
#include <string.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

struct questions {
	const uint8_t *keys[PIPELINE_BURST];
	struct ds_row *rows[PIPELINE_BURST];
	uint32_t n;
};

static void learn(struct ds_upper *u, const struct ds_row *row, const struct packet_meta *meta,
		  bool classified) {
	struct flow_record *r;

	if (!ds_keeps_flow(u, row))
		return;
	r = flow_cache_learn(&u->flow_cache, &row->key.flow, row->hash);
	if (r == NULL)
		return;
	r->modem = meta->modem;
	r->flow = meta->flow;
	r->cpe_period = (uint32_t)u->cpe_period; /* modem_lookup has just admitted it */
	r->filter = row->filter;
	memcpy(r->mac, row->modem->mac, sizeof(r->mac));
	r->classified = classified;
}

static uint32_t answer(struct ds_upper *u, enum rule_family family, struct questions *q,
		       struct rte_mbuf **pkts) {
	uint32_t results[PIPELINE_BURST];
	uint32_t matched = 0;

	rules_match(&u->classifiers, family, q->keys, results, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		const struct ds_row *row = q->rows[i];
		struct packet_meta *meta = packet_meta(pkts[row->at]);
		uint32_t primary = row->modem->first_flow;

		meta->flow = results[i] ? primary + results[i] - 1 : primary;
		matched += results[i] != 0;
		learn(u, row, meta, results[i] != 0);
	}
	return matched;
}

uint16_t ds_classify(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct questions questions[RULE_FAMILIES];
	uint32_t matched = 0;

	if (u->unknown_count == 0)
		return n;
	for (int f = 0; f < RULE_FAMILIES; f++)
		questions[f].n = 0;
	for (uint16_t i = 0; i < u->unknown_count; i++) {
		struct ds_row *row = u->unknown[i];
		struct questions *q = &questions[row->key.flow.family];

		rule_key_set(&row->key, row->modem->classifier_set);
		q->keys[q->n] = (const uint8_t *)&row->key;
		q->rows[q->n++] = row;
	}
	for (int f = 0; f < RULE_FAMILIES; f++)
		matched += answer(u, (enum rule_family)f, &questions[f], pkts);
	count(&u->counters, COUNTER_CLASSIFIER_MATCHED, matched);
	count(&u->counters, COUNTER_CLASSIFIER_UNMATCHED, u->unknown_count - matched);
	return n;
}
