/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filter and classify against the slow evaluator: groups in the modem's order, the default where no
 * rule matches, the list of classifiers that the modem names, its primary flow where none matches.
 */
#include "test.h"

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

#include "fixture.h"
#include "match_model.h"
#include "random.h"
#include "rules_plain.h"

#define MODEMS 9
#define GROUPS 6
#define RULES 120
#define SETS 5 /* of classifiers */
#define FLOWS 4 /* of a modem */

struct bench {
	struct ds_modem modems[MODEMS];
	struct ds_tables tables;
	uint32_t flows[MODEMS][FLOWS];
	struct ds_upper upper;
	struct match filter_matches[RULES], classifier_matches[RULES];
	struct rule filters[RULES], classifiers[RULES];
	struct rte_mempool *packets;
	struct random random;
};

static struct bench bench;

static void modems_make(struct bench *b) {
	b->tables.modems = b->modems;
	for (uint32_t m = 0; m < MODEMS; m++) {
		for (uint32_t f = 0; f < FLOWS; f++)
			b->flows[m][f] = m * FLOWS + f;
		b->modems[m].flows = b->flows[m];
		b->modems[m].classifier_set = (m + 3) % SETS; /* some share one */
		b->modems[m].filter_group_count = (uint8_t)(m % (SG_MAX_MODEM_FILTER_GROUPS + 1));
		for (unsigned g = 0; g < b->modems[m].filter_group_count; g++)
			b->modems[m].filter_groups[g] = (uint16_t)random_below(&b->random, GROUPS);
	}
}

static void lists_make(struct bench *b) {
	struct random *r = &b->random;

	for (uint32_t i = 0; i < RULES; i++) {
		b->filter_matches[i] =
			random_match(r, (enum rule_family)random_below(r, RULE_FAMILIES));
		b->filters[i] = (struct rule){&b->filter_matches[i], random_below(r, GROUPS),
					      1 + random_below(r, 2), i};
		b->classifier_matches[i] =
			random_match(r, (enum rule_family)random_below(r, RULE_FAMILIES));
		b->classifiers[i] = (struct rule){&b->classifier_matches[i], random_below(r, SETS),
						  1 + random_below(r, FLOWS), i};
	}
	rules_plain(&b->upper.filters, "filter", b->filters, RULES);
	rules_plain(&b->upper.classifiers, "classifier", b->classifiers, RULES);
}

static void bench_open(void) {
	struct bench *b = &bench;

	modems_make(b);
	lists_make(b);
	b->upper.tables = &b->tables;
	b->upper.counters = (struct counters){0};
	b->packets = fixture_pool("packets", 127, FIXTURE_ROOM);
}

static void bench_close(void) {
	rules_plain_free(&bench.upper.filters);
	rules_plain_free(&bench.upper.classifiers);
	fixture_pool_end(bench.packets);
}

/* What the groups of the modem say; 0: nothing. */
static uint32_t filter_verdict(const struct bench *b, const struct packet *p, uint32_t modem) {
	const struct ds_modem *m = &b->modems[modem];

	for (unsigned g = 0; g < m->filter_group_count; g++) {
		struct packet q = *p;
		uint32_t result;

		q.set = m->filter_groups[g];
		result = evaluate(b->filters, RULES, &q);
		if (result != 0)
			return result;
	}
	return 0;
}

static uint32_t flow_of(const struct bench *b, const struct packet *p, uint32_t modem) {
	struct packet q = *p;
	uint32_t result;

	q.set = b->modems[modem].classifier_set;
	result = evaluate(b->classifiers, RULES, &q);
	return modem * FLOWS + (result ? result - 1 : 0);
}

#define KNOWN UINT32_MAX /* flow of a packet that the stages are to leave alone */

/* A burst as the modem lookup leaves it: among packets of known flows unknown ones, each with a row. */
static uint16_t burst_make(struct bench *b, struct rte_mbuf **pkts, struct packet *packets) {
	struct ds_upper *u = &b->upper;
	uint16_t n = (uint16_t)random_below(&b->random, PIPELINE_BURST + 1);
	/* now and then as many questions as there can be */
	bool full = random_below(&b->random, 10) == 0;

	if (full)
		n = PIPELINE_BURST;
	u->unknown_count = 0;
	for (uint16_t i = 0; i < n; i++) {
		enum rule_family family = (enum rule_family)random_below(&b->random, RULE_FAMILIES);
		struct ds_row *row = &u->rows[i];

		pkts[i] = fixture_packet(b->packets, "", 0);
		packet_meta(pkts[i])->flow = KNOWN;
		packet_meta(pkts[i])->row = PACKET_NO_ROW;
		row->modem = NULL;
		if (!full && random_below(&b->random, 4) == 0)
			continue;
		packets[i] = random_packet(&b->random, family, 0);
		key_of(&packets[i], &row->key);
		row->extensions = packets[i].extensions;
		row->modem = &b->modems[full ? SG_MAX_MODEM_FILTER_GROUPS
					     : random_below(&b->random, MODEMS)];
		packet_meta(pkts[i])->row = i;
		u->unknown_count++;
	}
	return n;
}

/* Which packets are kept, and on which flow. */
static uint16_t expect(struct bench *b, struct rte_mbuf **pkts, const struct packet *packets,
		       uint16_t n, uint64_t *verdicts, uint32_t *flows) {
	uint16_t keep = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct ds_row *row = &b->upper.rows[i];
		uint32_t modem = row->modem ? (uint32_t)(row->modem - b->modems) : 0;
		uint32_t verdict = row->modem ? filter_verdict(b, &packets[i], modem) : 0;

		if (row->modem != NULL) {
			verdicts[verdict]++;
			if (verdict == 0)
				verdict = 1U + row->modem->filter_default;
			if (verdict != 1U + FILTER_PERMIT)
				continue;
		}
		flows[keep] = row->modem ? flow_of(b, &packets[i], modem) : KNOWN;
		pkts[keep++] = pkts[i];
	}
	return keep;
}

static void run_burst(struct bench *b, uint64_t *verdicts) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct rte_mbuf *expected[PIPELINE_BURST];
	struct packet packets[PIPELINE_BURST];
	uint32_t flows[PIPELINE_BURST];
	uint16_t n = burst_make(b, pkts, packets), keep;

	memcpy(expected, pkts, n * sizeof(pkts[0]));
	keep = expect(b, expected, packets, n, verdicts, flows);
	n = ds_filter(&b->upper, pkts, n);
	assert_int_equal(n, keep);
	assert_int_equal(ds_classify(&b->upper, pkts, n), n);
	for (uint16_t i = 0; i < n; i++) {
		assert_ptr_equal(pkts[i], expected[i]);
		assert_int_equal(packet_meta(pkts[i])->flow, flows[i]);
		rte_pktmbuf_free(pkts[i]);
	}
}

static void check_default(enum filter_action action) {
	const struct counters *c = &bench.upper.counters;
	uint64_t verdicts[3] = {0}, kept, dropped;

	bench.random.state = 2026 + action;
	bench_open();
	for (uint32_t m = 0; m < MODEMS; m++)
		bench.modems[m].filter_default = (uint8_t)action;
	for (int round = 0; round < 200; round++)
		run_burst(&bench, verdicts);
	assert_int_equal(c->values[COUNTER_FILTER_UNMATCHED], verdicts[0]);
	assert_int_equal(c->values[COUNTER_FILTER_MATCHED_PERMIT], verdicts[1 + FILTER_PERMIT]);
	assert_int_equal(c->values[COUNTER_FILTER_MATCHED_DENY], verdicts[1 + FILTER_DENY]);
	kept = verdicts[1 + FILTER_PERMIT] + (action == FILTER_PERMIT ? verdicts[0] : 0);
	dropped = verdicts[1 + FILTER_DENY] + (action == FILTER_DENY ? verdicts[0] : 0);
	assert_int_equal(c->drops[DROP_FILTER_DENY], dropped);
	assert_int_equal(counters_dropped(c), dropped);
	assert_int_equal(c->values[COUNTER_CLASSIFIER_MATCHED] +
				 c->values[COUNTER_CLASSIFIER_UNMATCHED],
			 kept);
	assert_true(c->values[COUNTER_CLASSIFIER_MATCHED] > kept / 20);
	/* enough of each kind to mean something */
	for (int i = 0; i < 3; i++)
		assert_true(verdicts[i] > 500);
	bench_close();
}

static void permits_by_default(void **state) {
	(void)state;
	check_default(FILTER_PERMIT);
}

static void denies_by_default(void **state) {
	(void)state;
	check_default(FILTER_DENY);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(permits_by_default),
		cmocka_unit_test(denies_by_default),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
