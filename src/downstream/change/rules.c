/* SPDX-License-Identifier: BSD-3-Clause */
/* Filter rules and classifiers of a change: allocates lists, and builds rules once if a list is
 * new. */
#include <stdio.h>
#include <string.h>

#include "downstream/change/internal.h"

/* Stores the new list's number, and records the old one for ds_change_end(). */
static bool put_list(struct ds_change *c, const struct live_change *l, struct rule_lists *lists,
		     uint32_t *at, uint32_t next) {
	if (next == RULE_LIST_NONE && l->next != NULL)
		return ds_refuse(c, l, "no memory for its rules, or too many different rule lists");
	c->lists.list[c->lists.count++] = (struct ds_list_change){lists, at, *at, next};
	*at = next;
	return true;
}

static bool get_lists(struct ds_change *c, const struct live_change *l) {
	struct ds_rule_lists *lists = &c->d->lists;
	uint32_t next = RULE_LIST_NONE;

	if (l->object == LIVE_FILTER_GROUP) {
		if (l->next != NULL)
			next = rule_lists_get_filters(&lists->filters, l->filter_group);
		if (!put_list(c, l, &lists->filters, &lists->of_group[l->slot], next))
			return false;
		return next == RULE_LIST_NONE || next <= UINT16_MAX ||
		       ds_refuse(c, l, "too many different filter groups");
	}
	if (l->object != LIVE_MODEM)
		return true;
	if (l->next != NULL)
		next = rule_lists_get_classifiers(&lists->classifiers, l->modem);
	return put_list(c, l, &lists->classifiers, &lists->of_modem[l->slot], next);
}

/* Whether one of the new lists is in no built rules yet. */
static bool some_are_new(const struct ds_change *c, const struct rule_lists *lists) {
	for (size_t i = 0; i < c->lists.count; i++) {
		const struct ds_list_change *l = &c->lists.list[i];

		if (l->lists == lists && l->next != RULE_LIST_NONE &&
		    lists->all[l->next].count > 0 && lists->all[l->next].kept == 0)
			return true;
	}
	return false;
}

/* The rules include removed lists: a modem uses its old list until its own step. */
static bool build(struct ds_change *c, struct ds_rules_change *r, const char *what,
		  struct rule_lists *lists, struct rules *in_service) {
	char name[RULES_NAME_SIZE];

	r->in_service = in_service;
	r->now = *in_service;
	if (!some_are_new(c, lists))
		return true;
	snprintf(name, sizeof(name), "%s_%u", what, c->sg->id);
	r->built = rules_build(&r->next, name, lists, &r->now) == 0;
	return r->built || ds_refuse(c, NULL, "no memory for rules");
}

/* Sets the modem's filter lists, in order, and the default. Returns whether a list differs from
 * that in service. */
static bool fill_filters(const struct ds_change *c, struct ds_modem_change *m,
			 const struct modem *is) {
	const struct ds_modem *now = &c->d->tables.modems[m->slot];

	m->filter_default = (uint8_t)c->sg->filter_default;
	m->filter_group_count = (uint8_t)is->filter_group_count;
	for (size_t g = 0; g < is->filter_group_count; g++)
		m->filter_groups[g] = (uint16_t)c->d->lists.of_group[is->filter_groups[g]];
	return now->filter_group_count != m->filter_group_count ||
	       memcmp(now->filter_groups, m->filter_groups,
		      m->filter_group_count * sizeof(m->filter_groups[0])) != 0;
}

static void fill_record(const struct ds_change *c, struct ds_modem_change *m,
			const struct modem *is) {
	memcpy(m->mac, is->mac, sizeof(m->mac));
	m->classifier_set = c->d->lists.of_modem[m->slot];
	m->cpe_limit = (uint16_t)is->cpe_limit;
	m->cpe_limit_ipv6 = (uint16_t)is->cpe_limit_ipv6;
}

/* Adds modems that are not in the change list but have a changed filter group. */
static void add_modems_of_groups(struct ds_change *c) {
	for (uint32_t slot = 0; slot < c->d->tables.capacity.modems; slot++) {
		const struct modem *is = ds_present_modem(c, slot);
		struct ds_modem_change *m = &c->modems.list[c->modems.count];

		if (is == NULL || c->change_of[LIVE_MODEM][slot] != 0)
			continue;
		*m = (struct ds_modem_change){.slot = slot, .kept = UINT64_MAX};
		if (!fill_filters(c, m, is))
			continue;
		fill_record(c, m, is);
		c->modems.count++;
	}
}

static void fill_modems(struct ds_change *c, bool groups_change) {
	for (size_t i = 0; i < c->modems.count; i++) {
		struct ds_modem_change *m = &c->modems.list[i];
		const struct modem *is = ds_next_modem(c, m->slot);

		fill_filters(c, m, is);
		fill_record(c, m, is);
	}
	if (groups_change)
		add_modems_of_groups(c);
}

bool ds_prepare_rules(struct ds_change *c) {
	struct downstream *d = c->d;
	bool groups_change = false;

	for (size_t i = 0; i < c->changes->count; i++) {
		const struct live_change *l = &c->changes->list[i];

		if (!get_lists(c, l))
			return false;
		groups_change |= l->object == LIVE_FILTER_GROUP;
	}
	if (!build(c, &c->rules[DS_FILTERS], "filter", &d->lists.filters, &d->upper.filters) ||
	    !build(c, &c->rules[DS_CLASSIFIERS], "class", &d->lists.classifiers,
		   &d->upper.classifiers))
		return false;
	fill_modems(c, groups_change);
	return true;
}
