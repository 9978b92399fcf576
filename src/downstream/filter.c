/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filter: the first rule that matches in the groups of the packet's modem, taken in order, permits
 * or denies it; where none does, the default decides. One rte_acl call a family and burst.
 */
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "downstream/unknown.h"

#define ENTRIES (PIPELINE_BURST * SG_MAX_MODEM_FILTER_GROUPS)

/* What is asked of one family's rules. */
struct questions {
	const uint8_t *keys[ENTRIES];
	struct ds_row *rows[ENTRIES];
	uint32_t n;
};

/* A key a group: the first in the packet's own row, further ones in copies of it. Returns how many
 * copies that took. */
static uint32_t ask(struct questions *questions, struct ds_row *row, struct rule_key *copies) {
	const struct ds_modem *modem = row->modem;
	struct questions *q = &questions[row->key.flow.family];

	for (unsigned g = 0; g < modem->filter_group_count; g++) {
		struct rule_key *key = g == 0 ? &row->key : &copies[g - 1];

		if (g > 0)
			*key = row->key;
		rule_key_set(key, modem->filter_groups[g]);
		q->keys[q->n] = (const uint8_t *)key;
		q->rows[q->n++] = row;
	}
	return modem->filter_group_count > 1 ? modem->filter_group_count - 1U : 0;
}

/* The first group that has a result for a packet decides. */
static void answer(const struct rules *rules, enum rule_family family, struct questions *q) {
	uint32_t results[ENTRIES];

	rules_match(rules, family, q->keys, results, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		if (q->rows[i]->filter == 0)
			q->rows[i]->filter = (uint8_t)results[i];
	}
}

static void find_verdicts(struct ds_upper *u) {
	struct questions questions[RULE_FAMILIES];
	struct rule_key copies[ENTRIES - PIPELINE_BURST];
	uint32_t used = 0;

	for (int f = 0; f < RULE_FAMILIES; f++)
		questions[f].n = 0;
	for (uint16_t i = 0; i < u->unknown_count; i++) {
		struct ds_row *row = u->unknown[i];

		row->filter = 0;
		used += ask(questions, row, copies + used);
	}
	for (int f = 0; f < RULE_FAMILIES; f++)
		answer(&u->filters, (enum rule_family)f, &questions[f]);
}

uint16_t ds_filter(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	uint64_t seen[3] = {0}; /* unmatched, permit, deny */

	if (u->unknown_count == 0)
		return n;
	find_verdicts(u);
	for (uint16_t i = 0; i < u->unknown_count; i++) {
		uint8_t found = u->unknown[i]->filter;
		enum filter_action action =
			found ? (enum filter_action)(found - 1) : u->filter_default;

		seen[found]++;
		if (action == FILTER_DENY)
			unknown_drop(u, pkts, u->unknown[i], DROP_FILTER_DENY);
	}
	count(&u->counters, COUNTER_FILTER_UNMATCHED, seen[0]);
	count(&u->counters, COUNTER_FILTER_MATCHED_PERMIT, seen[1 + FILTER_PERMIT]);
	count(&u->counters, COUNTER_FILTER_MATCHED_DENY, seen[1 + FILTER_DENY]);
	return unknown_close(u, pkts, n);
}
