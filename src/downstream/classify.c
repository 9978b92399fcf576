/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classify: the first of the modem's classifiers that matches names the service flow; where none
 * does it is the modem's primary one. One rte_acl call a family and burst.
 */
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

struct questions {
	const uint8_t *keys[PIPELINE_BURST];
	struct packet_meta *packets[PIPELINE_BURST];
	uint32_t n;
};

static uint32_t answer(struct ds_upper *u, enum rule_family family, struct questions *q) {
	uint32_t results[PIPELINE_BURST];
	uint32_t matched = 0;

	rules_match(&u->classifiers, family, q->keys, results, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		struct packet_meta *meta = q->packets[i];
		uint32_t primary = u->tables->modems[meta->modem].first_flow;

		meta->flow = results[i] ? primary + results[i] - 1 : primary;
		matched += results[i] != 0;
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
		struct rule_key *key = &u->keys[meta->slot];
		struct questions *q = &questions[u->families[meta->slot]];

		rule_key_set(key, meta->modem, (uint8_t)rte_be_to_cpu_32(key->set_tos));
		q->keys[q->n] = (const uint8_t *)key;
		q->packets[q->n++] = meta;
	}
	for (int f = 0; f < RULE_FAMILIES; f++)
		matched += answer(u, (enum rule_family)f, &questions[f]);
	count(&u->counters, COUNTER_CLASSIFIER_MATCHED, matched);
	count(&u->counters, COUNTER_CLASSIFIER_UNMATCHED, n - matched);
	return n;
}
