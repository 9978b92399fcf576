/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends a change. Everything that can fail is done at its start. */
#include "downstream/change/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/change/internal.h"
#include "downstream/slots.h"

static void prepare_values(struct ds_change *c) {
	for (size_t i = 0; i < c->changes->count; i++) {
		const struct live_change *l = &c->changes->list[i];

		if (l->object != LIVE_GROUP)
			continue;
		c->values = (struct ds_values){
			.rate_limit = l->group->rate_limit != c->sg->rate_limit,
			.cpe_timeout = l->group->cpe_timeout_ns != c->sg->cpe_timeout_ns,
			.to_rate_limit = l->group->rate_limit,
			.to_cpe_timeout = l->group->cpe_timeout_ns,
		};
	}
}

static void note_channels(struct ds_change *c, const struct bonding_group *g) {
	for (size_t i = 0; i < g->channel_count; i++)
		c->closing_channels.list[c->closing_channels.count++] = g->channels[i];
}

/* Marks slots as in removal, or as free. */
static void mark_slots(struct ds_change *c, bool removing) {
	struct ds_slots *p = &c->d->slots;
	const uint32_t by = removing ? 1 : UINT32_MAX;

	for (unsigned o = 0; o < LIVE_OBJECTS; o++) {
		for (size_t i = 0; i < c->retiring[o].count; i++)
			p->retiring[o][c->retiring[o].list[i]] = removing;
	}
	for (size_t i = 0; i < c->closing_groups.count; i++)
		p->flows_leaving[c->closing_groups.list[i]] += by;
	for (size_t i = 0; i < c->closing_channels.count; i++)
		p->groups_leaving[c->closing_channels.list[i]] += by;
}

/* Marks the slots of removed objects, so that no other change may use them. */
static void note_leaving(struct ds_change *c) {
	for (size_t i = 0; i < c->changes->count; i++) {
		const struct live_change *l = &c->changes->list[i];

		if (l->next != NULL || l->object == LIVE_UPSTREAM_CHANNEL)
			continue;
		c->retiring[l->object].list[c->retiring[l->object].count++] = l->slot;
		if (l->object == LIVE_BONDING_GROUP)
			note_channels(c, ds_present_bonding_group(c, l->slot));
	}
	mark_slots(c, true);
	c->prepared = true;
}

/* Whether both MACs have applied the previous change, so that its objects are in service. */
static bool may_begin(const struct ds_change *c) {
	const struct ds_change *latest = c->d->slots.latest;

	return latest == NULL || (change_state_of(&latest->upper_state) == CHANGE_RETIRING &&
				  change_state_of(&latest->lower_state) == CHANGE_RETIRING);
}

static bool prepare(struct ds_change *c) {
	if (!may_begin(c))
		return ds_refuse(c, NULL, "another change is still being applied");
	if (!ds_change_allocate(c))
		return ds_refuse(c, NULL, "no memory left");
	if (!ds_change_is_valid(c))
		return false;
	prepare_values(c);
	if (!ds_prepare_channels(c) || !ds_prepare_flows(c) || !ds_prepare_addresses(c) ||
	    !ds_prepare_rules(c))
		return false;
	note_leaving(c);
	c->d->slots.latest = c;
	return true;
}

struct ds_change *ds_change_begin(struct downstream *d, const struct service_group *sg,
				  const struct live_changes *changes, void *const *schedules,
				  char why[LIVE_LINE]) {
	struct ds_change *c = calloc(1, sizeof(*c));

	why[0] = '\0';
	if (c == NULL) {
		snprintf(why, LIVE_LINE, "downstream: no memory left");
		return NULL;
	}
	c->d = d;
	c->sg = sg;
	c->changes = changes;
	c->schedules = schedules;
	c->why = why;
	if (prepare(c))
		return c;
	ds_change_end(c);
	return NULL;
}

static void free_numbers(struct ds_change *c, const uint32_t *flows, size_t count) {
	struct ds_slots *p = &c->d->slots;

	for (size_t i = count; i > 0; i--)
		p->free_flows[p->free_flow_count++] = flows[i - 1];
}

/* Returns the references of the lists that are unused after the change, or after its refusal. */
static void lists_end(struct ds_change *c, bool applied) {
	for (size_t i = c->lists.count; i > 0; i--) {
		const struct ds_list_change *l = &c->lists.list[i - 1];
		uint32_t unused = applied ? l->now : l->next;

		if (!applied)
			*l->at = l->now;
		if (unused != RULE_LIST_NONE)
			rule_lists_put(l->lists, unused);
	}
}

/* Frees the rules that are unused after the change, or after its refusal. */
static void rules_end(struct ds_change *c, bool applied) {
	struct rule_lists *const lists[DS_RULES] = {
		[DS_FILTERS] = &c->d->lists.filters,
		[DS_CLASSIFIERS] = &c->d->lists.classifiers,
	};

	for (unsigned i = 0; i < DS_RULES; i++) {
		struct ds_rules_change *r = &c->rules[i];

		if (r->built)
			rules_free(applied ? &r->now : &r->next, applied ? &r->next : &r->now,
				   lists[i]);
	}
}

void ds_change_end(struct ds_change *c) {
	bool applied = change_state_of(&c->upper_state) != CHANGE_PREPARED;

	rules_end(c, applied);
	lists_end(c, applied);
	if (applied)
		free_numbers(c, c->closing.list, c->closing.count);
	else
		free_numbers(c, c->allocated.list, c->allocated.count);
	if (c->prepared)
		mark_slots(c, false);
	if (c->d->slots.latest == c)
		c->d->slots.latest = NULL;
	ds_change_free(c);
}
