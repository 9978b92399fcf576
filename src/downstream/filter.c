/* SPDX-License-Identifier: BSD-3-Clause */
/* Filter: the first matching rule of the modem's filter groups, in order, permits or denies the
 * packet, or else the default applies. One rte_acl call per family and burst. */
#include <stdio.h>
#include <stdlib.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "downstream/unknown.h"

#define ENTRIES (PIPELINE_BURST * SG_MAX_MODEM_FILTER_GROUPS)

/* Keys for the rules of one family. */
struct filter_questions {
	const uint8_t *keys[ENTRIES];
	struct ds_record *records[ENTRIES];
	uint32_t n;
};

/* Adds a key per filter group: the first in the packet's record, the others in copies of it.
 * Returns the number of copies. */
static uint32_t add_filter_queries(struct filter_questions *questions, struct ds_record *record,
				   struct rule_key *copies) {
	const struct ds_modem *modem = record->modem;
	struct filter_questions *q = &questions[record->key.flow.family];

	for (unsigned g = 0; g < modem->filter_group_count; g++) {
		struct rule_key *key = g == 0 ? &record->key : &copies[g - 1];

		if (g > 0)
			*key = record->key;
		rule_key_set(key, modem->filter_groups[g]);
		q->keys[q->n] = (const uint8_t *)key;
		q->records[q->n++] = record;
	}
	return modem->filter_group_count > 1 ? modem->filter_group_count - 1U : 0;
}

/* The first group with a result decides. */
static void answer_filters(const struct rules *rules, enum rule_family family,
			   struct filter_questions *q) {
	uint32_t results[ENTRIES];

	rules_match(rules, family, q->keys, results, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		if (q->records[i]->filter == 0)
			q->records[i]->filter = (uint8_t)results[i];
	}
}

/* For a packet with extension headers: matches each group by itself. */
static void find_chain_verdict(const struct rules *rules, struct ds_record *record) {
	const struct ds_modem *modem = record->modem;

	for (unsigned g = 0; g < modem->filter_group_count && record->filter == 0; g++) {
		rule_key_set(&record->key, modem->filter_groups[g]);
		record->filter =
			(uint8_t)rules_match_chain(rules, &record->key, record->extensions);
	}
}

static void find_verdicts(struct ds_upper *u, const struct unknown *unknown) {
	struct filter_questions questions[RULE_FAMILIES];
	struct rule_key copies[ENTRIES - PIPELINE_BURST];
	uint32_t used = 0;

	for (int f = 0; f < RULE_FAMILIES; f++)
		questions[f].n = 0;
	for (uint16_t i = 0; i < unknown->count; i++) {
		struct ds_record *record = unknown->records[i];

		record->filter = 0;
		if (unlikely(ds_has_chain(record)))
			find_chain_verdict(&u->filters, record);
		else
			used += add_filter_queries(questions, record, copies + used);
	}
	for (int f = 0; f < RULE_FAMILIES; f++)
		answer_filters(&u->filters, (enum rule_family)f, &questions[f]);
}

uint16_t ds_filter(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_upper *u = ctx;
	const struct ds_known *known = &u->known;
	uint64_t seen[] = {
		[0] = known->packets - known->permitted, /* no rule */
		[1 + FILTER_PERMIT] = known->permitted,
		[1 + FILTER_DENY] = 0,
	};
	struct unknown unknown;

	unknown_find(u, pkts, n, &unknown);
	if (unknown.count > 0)
		find_verdicts(u, &unknown);
	for (uint16_t i = 0; i < unknown.count; i++) {
		const struct ds_record *record = unknown.records[i];
		uint8_t found = record->filter;
		enum filter_action action =
			(enum filter_action)(found ? found - 1 : record->modem->filter_default);

		seen[found]++;
		if (action == FILTER_DENY)
			unknown_drop(u, pkts, &unknown, i, DROP_FILTER_DENY);
	}
	count(&u->counters, COUNTER_FILTER_UNMATCHED, seen[0]);
	count(&u->counters, COUNTER_FILTER_MATCHED_PERMIT, seen[1 + FILTER_PERMIT]);
	count(&u->counters, COUNTER_FILTER_MATCHED_DENY, seen[1 + FILTER_DENY]);
	return unknown_compact(&unknown, pkts, n);
}

/* Sets the list of each filter group of the modems. Equal groups may share a list. */
static void modems_set_filters(struct downstream *d, const struct service_group *sg) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		for (size_t g = 0; g < sg->modems[m].filter_group_count; g++)
			d->tables.modems[m].filter_groups[g] =
				(uint16_t)d->lists.of_group[sg->modems[m].filter_groups[g]];
	}
}

int ds_filter_open(void *downstream, const struct service_group *sg, const void *resources) {
	struct downstream *d = downstream;
	struct rule_lists *lists = &d->lists.filters;
	char name[RULES_NAME_SIZE];

	(void)resources;
	d->lists.of_group = malloc((d->tables.capacity.filter_groups + 1U) * sizeof(uint32_t));
	if (rule_lists_create(lists) != 0 || d->lists.of_group == NULL)
		return -1;
	for (uint32_t g = 0; g < d->tables.capacity.filter_groups; g++)
		d->lists.of_group[g] = RULE_LIST_NONE;
	for (size_t g = 0; g < sg->filter_group_count; g++) {
		if (!filter_group_exists(&sg->filter_groups[g]))
			continue;
		d->lists.of_group[g] = rule_lists_get_filters(lists, &sg->filter_groups[g]);
		if (d->lists.of_group[g] == RULE_LIST_NONE)
			return -1;
	}
	modems_set_filters(d, sg);
	snprintf(name, sizeof(name), "filter_%u", sg->id);
	return rules_build(&d->upper.filters, name, lists, &(struct rules){0});
}

void ds_filter_close(void *downstream) {
	struct downstream *d = downstream;

	rules_free(&d->upper.filters, NULL, &d->lists.filters);
	rule_lists_free(&d->lists.filters);
	free(d->lists.of_group);
}
