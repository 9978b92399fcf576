/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filter: the first rule that matches in the groups of the packet's modem, taken in order, permits
 * or denies it; where none does, the default decides. One rte_acl call a family and burst.
 */
#include <string.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"

#define ENTRIES (PIPELINE_BURST * SG_MAX_MODEM_FILTER_GROUPS)

/* What is asked of one family's rules. */
struct questions {
	const uint8_t *keys[ENTRIES];
	uint16_t packets[ENTRIES]; /* index in the burst */
	uint32_t n;
};

static void ask(struct questions *q, const struct rule_key *key, uint16_t packet) {
	q->keys[q->n] = (const uint8_t *)key;
	q->packets[q->n++] = packet;
}

/* A key a group: the first in the packet's own row, further ones in copies of it. */
static void ask_all(struct ds_upper *u, struct questions *q, struct rule_key *copies,
		    struct rte_mbuf **pkts, uint16_t n) {
	uint32_t used = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct packet_meta *meta = packet_meta(pkts[i]);
		const struct ds_modem *modem = &u->tables->modems[meta->modem];
		struct rule_key *key = &u->keys[meta->slot];
		uint8_t tos = (uint8_t)rte_be_to_cpu_32(key->set_tos);

		for (unsigned g = 0; g < modem->filter_group_count; g++) {
			if (g > 0) {
				copies[used] = u->keys[meta->slot];
				key = &copies[used++];
			}
			rule_key_set(key, modem->filter_groups[g], tos);
			ask(&q[u->families[meta->slot]], key, i);
		}
	}
}

/* `found` gets the result of the first group that has one, else stays 0. */
static void answer(const struct rules *rules, enum rule_family family, struct questions *q,
		   uint32_t *found) {
	uint32_t results[ENTRIES];

	rules_match(rules, family, q->keys, results, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		if (found[q->packets[i]] == 0)
			found[q->packets[i]] = results[i];
	}
}

static uint16_t apply(struct ds_upper *u, const uint32_t *found, struct rte_mbuf **pkts,
		      uint16_t n) {
	uint64_t seen[3] = {0}; /* unmatched, permit, deny */
	uint16_t kept = 0;

	for (uint16_t i = 0; i < n; i++) {
		enum filter_action action =
			found[i] ? (enum filter_action)(found[i] - 1) : u->filter_default;

		seen[found[i]]++;
		if (action == FILTER_DENY)
			drop(&u->counters, pkts[i], DROP_FILTER_DENY);
		else
			pkts[kept++] = pkts[i];
	}
	count(&u->counters, COUNTER_FILTER_UNMATCHED, seen[0]);
	count(&u->counters, COUNTER_FILTER_MATCHED_PERMIT, seen[1 + FILTER_PERMIT]);
	count(&u->counters, COUNTER_FILTER_MATCHED_DENY, seen[1 + FILTER_DENY]);
	return kept;
}

uint16_t ds_filter(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	struct questions questions[RULE_FAMILIES];
	struct rule_key copies[ENTRIES - PIPELINE_BURST];
	uint32_t found[PIPELINE_BURST];

	for (int f = 0; f < RULE_FAMILIES; f++)
		questions[f].n = 0;
	memset(found, 0, n * sizeof(found[0]));
	ask_all(u, questions, copies, pkts, n);
	for (int f = 0; f < RULE_FAMILIES; f++)
		answer(&u->filters, (enum rule_family)f, &questions[f], found);
	return apply(u, found, pkts, n);
}
