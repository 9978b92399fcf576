/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of a change on the worker of the upper MAC. The scheduler gets a flow before any packet is
 * classified to it. Rules get the new lists, beside the old ones, before a modem uses them. One
 * step writes all data of a modem. The scheduler cannot refuse these settings, as they were
 * validated.
 */
#include <string.h>

#include "downstream/change/internal.h"
#include "downstream/cpe.h"
#include "downstream/qos.h"

/* Approximate costs in ns with cold caches. */
#define FLOW_NS 10000
#define GROUP_NS 4000
#define MODEM_NS 4000
#define KEY_NS 250 /* per key, in addition to MODEM_NS */
#define ENTRY_NS 1000
#define DRAIN_NS 16000
#define DRAIN_BURST 32 /* packets */

static bool apply_channel(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_channel_set *set = &c->channels.list[cursor->at];
	struct ds_upper *u = &c->d->upper;

	RTE_VERIFY(scheduler_set_channel(u->scheduler, set->slot, &set->in_scheduler) == NULL);
	if (set->is_new)
		qos_capacity_begin(u, set->slot, set->to.rate);
	else
		qos_capacity_change(u, set->slot, set->to.rate);
	cursor->left -= GROUP_NS;
	return true;
}

static bool apply_group(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_group_set *set = &c->groups.list[cursor->at];

	RTE_VERIFY(scheduler_set_group(c->d->upper.scheduler, set->slot, &set->to) == NULL);
	cursor->left -= GROUP_NS;
	return true;
}

static bool apply_limit(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_modem_change *m = &c->modems.list[cursor->at];

	cursor->left -= m->limits ? MODEM_NS : ENTRY_NS;
	if (!m->limits)
		return true;
	RTE_VERIFY(scheduler_set_modem(c->d->upper.scheduler, m->slot, &m->aggregate) == NULL);
	return true;
}

static bool apply_flow(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_flow_set *set = &c->flows.list[cursor->at];

	RTE_VERIFY(scheduler_set_flow(c->d->upper.scheduler, set->flow, &set->to) == NULL);
	cursor->left -= FLOW_NS;
	return true;
}

static bool apply_values(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_values *v = &c->values;
	struct ds_upper *u = &c->d->upper;

	if (v->rate_limit)
		RTE_VERIFY(scheduler_set_rate_limit(u->scheduler, v->to_rate_limit) == NULL);
	if (v->cpe_timeout)
		cpe_period_set(u, v->to_cpe_timeout);
	cursor->left -= GROUP_NS;
	return true;
}

static uint32_t group_itself(const void *change) {
	(void)change;
	return 1;
}

static bool apply_rules(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	struct ds_rules_change *r = &c->rules[cursor->at];

	if (r->built)
		*r->in_service = r->next;
	cursor->left -= ENTRY_NS;
	return true;
}

static uint32_t kinds_of_rules(const void *change) {
	(void)change;
	return DS_RULES;
}

/* Removes an address that no modem has any more. */
static bool close_address(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_key *key = &c->removed.list[cursor->at];

	rte_hash_del_key(key->table, key->bytes);
	flow_cache_invalidate(&c->d->upper.flow_cache, key->modem);
	cursor->left -= ENTRY_NS;
	return true;
}

static void write_addresses(struct ds_change *c, const struct ds_modem_change *m) {
	for (uint32_t k = 0; k < m->key_count; k++) {
		const struct ds_key *key = &c->added.list[m->first_key + k];
		void *entry = (void *)(uintptr_t)ds_entry(key->modem, key->number);

		RTE_VERIFY(rte_hash_add_key_data(key->table, key->bytes, entry) == 0);
		if (key->from != DS_NO_MODEM)
			flow_cache_invalidate(&c->d->upper.flow_cache, key->from);
	}
}

static void write_modem(struct ds_change *c, const struct ds_modem_change *m) {
	struct ds_modem *d = &c->d->tables.modems[m->slot];

	memcpy(d->mac, m->mac, sizeof(d->mac));
	d->filter_group_count = m->filter_group_count;
	d->filter_default = m->filter_default;
	memcpy(d->filter_groups, m->filter_groups, sizeof(d->filter_groups));
	d->classifier_set = m->classifier_set;
	d->cpe_limit = m->cpe_limit;
	d->cpe_limit_ipv6 = m->cpe_limit_ipv6;
	memcpy(ds_modem_flows(&c->d->tables, m->slot), &c->numbers.list[m->first_number],
	       m->flow_count * sizeof(uint32_t));
	d->cpe_recent &= m->kept; /* addresses at reused indices are not active yet */
	d->cpe_before &= m->kept;
	if (m->is_new)
		d->cpe_period = 0;
	write_addresses(c, m);
	flow_cache_invalidate(&c->d->upper.flow_cache, m->slot);
}

/* The cursor passes all modems once per value of enum ds_order; each is written in its pass. */
static bool apply_modem(void *change, struct change_cursor *cursor) {
	struct ds_change *c = change;
	const struct ds_modem_change *m = &c->modems.list[cursor->at % c->modems.count];

	cursor->left -= ENTRY_NS;
	if (m->order != cursor->at / c->modems.count)
		return true;
	write_modem(c, m);
	cursor->left -= MODEM_NS - ENTRY_NS + (int)m->key_count * KEY_NS;
	return true;
}

CHANGE_COUNT(groups, struct ds_change, groups.count)
CHANGE_COUNT(modems, struct ds_change, modems.count)
CHANGE_COUNT(flows, struct ds_change, flows.count)
CHANGE_COUNT(removed_addresses, struct ds_change, removed.count)

static uint32_t modems_in_order(const void *change) {
	return DS_ORDERS * modems(change);
}

bool ds_change_upper(void *change) {
	static const struct change_phase phases[] = {
		{.step = apply_channel, .count = ds_channels},
		{.step = apply_group, .count = groups},
		{.step = apply_limit, .count = modems},
		{.step = apply_flow, .count = flows},
		{.step = apply_values, .count = group_itself},
		{.step = apply_rules, .count = kinds_of_rules},
		{.step = close_address, .count = removed_addresses},
		{.step = apply_modem, .count = modems_in_order},
	};
	struct ds_change *c = change;
	bool done = change_run(&c->upper, phases, RTE_DIM(phases), c, CHANGE_STEP_NS);

	change_state_follow(&c->upper_state, done);
	return done;
}

bool ds_change_drained(const struct ds_change *c) {
	for (size_t i = 0; i < c->closing.count; i++) {
		if (scheduler_flow_queued(c->d->upper.scheduler, c->closing.list[i]) > 0)
			return false;
	}
	return true;
}

/* Drops the flow's queued packets in bursts. Returns false if the budget ends before the queue. */
static bool close_flow(void *change, struct change_cursor *cursor) {
	const struct scheduler_flow none = {.group = SCHEDULER_NONE};
	struct ds_change *c = change;
	struct ds_upper *u = &c->d->upper;
	uint32_t flow = c->closing.list[cursor->at];
	void *pkts[DRAIN_BURST];

	for (;;) {
		unsigned n = scheduler_drain_flow(u->scheduler, flow, pkts, DRAIN_BURST);

		for (unsigned i = 0; i < n; i++)
			drop(&u->counters, pkts[i], DROP_SERVICE_FLOW_REMOVED);
		if (scheduler_flow_queued(u->scheduler, flow) == 0)
			break;
		cursor->left -= DRAIN_NS;
		if (cursor->left <= 0)
			return false;
	}
	RTE_VERIFY(scheduler_set_flow(u->scheduler, flow, &none) == NULL);
	cursor->left -= FLOW_NS;
	return true;
}

static bool close_modem(void *change, struct change_cursor *cursor) {
	const struct scheduler_modem none = {0};
	struct ds_change *c = change;
	const uint32_t *slots = c->retiring[LIVE_MODEM].list;

	RTE_VERIFY(scheduler_set_modem(c->d->upper.scheduler, slots[cursor->at], &none) == NULL);
	cursor->left -= MODEM_NS;
	return true;
}

static bool close_group(void *change, struct change_cursor *cursor) {
	const struct scheduler_group none = {0};
	struct ds_change *c = change;
	const uint32_t *slots = c->retiring[LIVE_BONDING_GROUP].list;

	RTE_VERIFY(scheduler_set_group(c->d->upper.scheduler, slots[cursor->at], &none) == NULL);
	cursor->left -= GROUP_NS;
	return true;
}

static bool close_channel(void *change, struct change_cursor *cursor) {
	const struct scheduler_channel none = {0};
	struct ds_change *c = change;
	const uint32_t *slots = c->retiring[LIVE_CHANNEL].list;

	RTE_VERIFY(scheduler_set_channel(c->d->upper.scheduler, slots[cursor->at], &none) == NULL);
	qos_capacity_change(&c->d->upper, slots[cursor->at], 0);
	cursor->left -= GROUP_NS;
	return true;
}

CHANGE_COUNT(closing_flows, struct ds_change, closing.count)
CHANGE_COUNT(leaving_modems, struct ds_change, retiring[LIVE_MODEM].count)
CHANGE_COUNT(leaving_groups, struct ds_change, retiring[LIVE_BONDING_GROUP].count)

bool ds_change_close(void *change) {
	static const struct change_phase phases[] = {
		{.step = close_flow, .count = closing_flows},
		{.step = close_modem, .count = leaving_modems},
		{.step = close_group, .count = leaving_groups},
		{.step = close_channel, .count = ds_leaving_channels},
	};
	struct ds_change *c = change;

	return change_run(&c->close, phases, RTE_DIM(phases), c, CHANGE_STEP_NS);
}
