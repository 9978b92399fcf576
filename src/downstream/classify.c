/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classify: the modem's first matching classifier selects the service flow, or else the modem's
 * primary flow is used. One rte_acl call per family and burst. The flow cache keeps the result for
 * later packets of the flow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/classified.h"
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "downstream/unknown.h"
#include "pipeline/packet.h"

struct classifier_questions {
	const uint8_t *keys[PIPELINE_BURST];
	uint16_t unknown[PIPELINE_BURST]; /* indices in the list of unknown packets */
	uint32_t n;
};

static void learn_flow(struct ds_upper *u, const struct ds_record *record,
		       const struct packet_meta *meta, enum classified classified) {
	struct flow_record *r;

	if (!ds_keeps_flow(u, record))
		return;
	r = flow_cache_add(&u->flow_cache, &record->key.flow, record->hash, meta->modem);
	if (r == NULL)
		return;
	r->flow = meta->flow;
	r->cpe_period = (uint32_t)u->cpe_period; /* modem_lookup admitted the address just now */
	r->filter = record->filter;
	memcpy(r->mac, record->modem->mac, sizeof(r->mac));
	r->classified = (uint8_t)classified;
}

/* `result` is 0, or 1 + the index of the service flow in the modem's list. */
static void put_result(struct ds_upper *u, const struct ds_record *record, struct rte_mbuf *m,
		       uint32_t result, uint32_t *by_kind) {
	struct packet_meta *meta = packet_meta(m);
	enum classified kind = classified_kind(&record->key.flow, result != 0);

	meta->flow = record->modem->flows[result ? result - 1 : 0];
	by_kind[kind]++;
	learn_flow(u, record, meta, kind);
}

static void answer_classifiers(struct ds_upper *u, enum rule_family family,
			       struct classifier_questions *q, const struct unknown *unknown,
			       struct rte_mbuf **pkts, uint32_t *by_kind) {
	uint32_t results[PIPELINE_BURST];

	rules_match(&u->classifiers, family, q->keys, results, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		uint16_t which = q->unknown[i];

		put_result(u, unknown->records[which], pkts[unknown->at[which]], results[i],
			   by_kind);
	}
}

static void classify_unknown(struct ds_upper *u, struct rte_mbuf **pkts,
			     const struct unknown *unknown, uint32_t *by_kind) {
	struct classifier_questions questions[RULE_FAMILIES];

	for (int f = 0; f < RULE_FAMILIES; f++)
		questions[f].n = 0;
	for (uint16_t i = 0; i < unknown->count; i++) {
		struct ds_record *record = unknown->records[i];
		struct classifier_questions *q = &questions[record->key.flow.family];

		rule_key_set(&record->key, record->modem->classifier_set);
		if (unlikely(ds_has_chain(record))) {
			uint32_t result = rules_match_chain(&u->classifiers, &record->key,
							    record->extensions);

			put_result(u, record, pkts[unknown->at[i]], result, by_kind);
			continue;
		}
		q->keys[q->n] = (const uint8_t *)&record->key;
		q->unknown[q->n++] = i;
	}
	for (int f = 0; f < RULE_FAMILIES; f++)
		answer_classifiers(u, (enum rule_family)f, &questions[f], unknown, pkts, by_kind);
}

uint16_t ds_classify(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint32_t by_kind[CLASSIFIED_KINDS];
	struct unknown unknown;

	memcpy(by_kind, u->known.classified, sizeof(by_kind));
	unknown_find(u, pkts, n, &unknown);
	if (unknown.count > 0)
		classify_unknown(u, pkts, &unknown, by_kind);
	classified_count(&u->counters, by_kind);
	return n;
}

int ds_classify_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	struct rule_lists *lists = &d->lists.classifiers;
	char name[RULES_NAME_SIZE];

	(void)resources;
	d->lists.of_modem = malloc((d->tables.capacity.modems + 1U) * sizeof(uint32_t));
	if (rule_lists_create(lists) != 0 || d->lists.of_modem == NULL)
		return -1;
	for (uint32_t m = 0; m < d->tables.capacity.modems; m++)
		d->lists.of_modem[m] = RULE_LIST_NONE;
	for (size_t m = 0; m < sg->modem_count; m++) {
		if (!modem_exists(&sg->modems[m]))
			continue;
		d->lists.of_modem[m] = rule_lists_get_classifiers(lists, &sg->modems[m]);
		if (d->lists.of_modem[m] == RULE_LIST_NONE)
			return -1;
		d->tables.modems[m].classifier_set = d->lists.of_modem[m];
	}
	snprintf(name, sizeof(name), "class_%u", sg->id);
	return rules_build(&d->upper.classifiers, name, lists, &(struct rules){0});
}

void ds_classify_close(void *downstream) {
	struct downstream *d = downstream;

	rules_free(&d->upper.classifiers, NULL, &d->lists.classifiers);
	rule_lists_free(&d->lists.classifiers);
	free(d->lists.of_modem);
}
