/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the worker of the upper MAC does of a change. A flow is in the scheduler before anything leads into it, and
 * rules have the lists of all modems, old and new, before a modem turns to its new ones. All that tells of
 * one modem changes in one moment. What was judged good is not refused any more.
 */
#include <string.h>

#include "downstream/change/internal.h"
#include "downstream/cpe.h"
#include "downstream/qos.h"

/* Of work in a step, by and large in microseconds where nothing is in the caches. */
#define STEP_WORK 40
#define FLOW_WORK 10
#define GROUP_WORK 4
#define MODEM_WORK 4
#define DRAIN_WORK 16
#define DRAIN_BURST 32 /* packets */

/* Does the next piece. Returns what it cost, at least 1; 0: nothing is left of this phase. */
typedef unsigned change_piece(struct ds_change *c);

static bool run_phases(struct ds_change *c, change_piece *const *phases, unsigned count) {
	for (unsigned work = 0; work < STEP_WORK && c->phase < count;) {
		unsigned cost = phases[c->phase](c);

		work += cost;
		if (cost > 0)
			continue;
		c->phase++;
		c->at = 0;
	}
	return c->phase == count;
}

static unsigned take_channel(struct ds_change *c) {
	const struct ds_channel_set *set;
	struct ds_upper *u = &c->d->upper;

	if (c->at == c->channels.count)
		return 0;
	set = &c->channels.list[c->at++];
	RTE_VERIFY(scheduler_set_channel(u->scheduler, set->slot, &set->in_scheduler) == NULL);
	if (set->comes)
		qos_capacity_begin(u, set->slot, set->to.rate);
	else
		qos_capacity_change(u, set->slot, set->to.rate);
	return GROUP_WORK;
}

static unsigned take_group(struct ds_change *c) {
	const struct ds_group_set *set;

	if (c->at == c->groups.count)
		return 0;
	set = &c->groups.list[c->at++];
	RTE_VERIFY(scheduler_set_group(c->d->upper.scheduler, set->slot, &set->to) == NULL);
	return GROUP_WORK;
}

static unsigned take_limit(struct ds_change *c) {
	const struct ds_modem_change *m;

	if (c->at == c->modems.count)
		return 0;
	m = &c->modems.list[c->at++];
	if (!m->limits)
		return 1;
	RTE_VERIFY(scheduler_set_modem(c->d->upper.scheduler, m->slot, &m->aggregate) == NULL);
	return MODEM_WORK;
}

static unsigned take_flow(struct ds_change *c) {
	const struct ds_flow_set *set;

	if (c->at == c->flows.count)
		return 0;
	set = &c->flows.list[c->at++];
	RTE_VERIFY(scheduler_set_flow(c->d->upper.scheduler, set->flow, &set->to) == NULL);
	return FLOW_WORK;
}

static unsigned take_values(struct ds_change *c) {
	const struct ds_values *v = &c->values;
	struct ds_upper *u = &c->d->upper;

	if (c->at++ > 0)
		return 0;
	if (v->rate_limit)
		RTE_VERIFY(scheduler_set_rate_limit(u->scheduler, v->to_rate_limit) == NULL);
	if (v->cpe_timeout)
		cpe_period_set(u, v->to_cpe_timeout);
	return GROUP_WORK;
}

static unsigned take_rules(struct ds_change *c) {
	if (c->at == DS_RULES)
		return 0;
	if (c->rules[c->at].built)
		*c->rules[c->at].in_service = c->rules[c->at].next;
	c->at++;
	return 1;
}

/* An address that is nobody's any more. */
static unsigned close_address(struct ds_change *c) {
	const struct ds_key *key;

	if (c->at == c->gone.count)
		return 0;
	key = &c->gone.list[c->at++];
	rte_hash_del_key(key->table, key->bytes);
	flow_cache_forget(&c->d->upper.flow_cache, key->modem);
	return 1;
}

static void lead_addresses(struct ds_change *c, const struct ds_modem_change *m) {
	for (uint32_t k = 0; k < m->key_count; k++) {
		const struct ds_key *key = &c->come.list[m->first_key + k];
		void *place = (void *)(uintptr_t)ds_place(key->modem, key->number);

		RTE_VERIFY(rte_hash_add_key_data(key->table, key->bytes, place) == 0);
		if (key->from != DS_NOBODY)
			flow_cache_forget(&c->d->upper.flow_cache, key->from);
	}
}

static void turn_modem(struct ds_change *c, const struct ds_modem_change *m) {
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
	d->cpe_recent &= m->kept; /* who gets a number that is free again has not been seen */
	d->cpe_before &= m->kept;
	if (m->comes)
		d->cpe_period = 0;
	lead_addresses(c, m);
	flow_cache_forget(&c->d->upper.flow_cache, m->slot);
}

/* Those whose turn it is, in the order of the turns. */
static unsigned take_modem(struct ds_change *c) {
	const struct ds_modem_change *m;

	while (c->at == c->modems.count) {
		if (++c->turn >= DS_TURNS)
			return 0;
		c->at = 0;
	}
	m = &c->modems.list[c->at++];
	if (m->turn != c->turn)
		return 1;
	turn_modem(c, m);
	return MODEM_WORK + m->key_count / 4;
}

bool ds_change_upper(void *change) {
	static change_piece *const phases[] = {
		take_channel, take_group, take_limit,	 take_flow,
		take_values,  take_rules, close_address, take_modem,
	};
	struct ds_change *c = change;

	c->taken = true;
	if (!run_phases(c, phases, RTE_DIM(phases)))
		return false;
	c->phase = c->at = 0;
	__atomic_store_n(&c->upper_done, true, __ATOMIC_RELEASE);
	return true;
}

bool ds_change_drained(const struct ds_change *c) {
	for (size_t i = 0; i < c->closing.count; i++) {
		if (scheduler_flow_held(c->d->upper.scheduler, c->closing.list[i]) > 0)
			return false;
	}
	return true;
}

static unsigned close_flow(struct ds_change *c) {
	const struct scheduler_flow none = {.group = SCHEDULER_NONE};
	struct ds_upper *u = &c->d->upper;
	void *pkts[DRAIN_BURST];
	unsigned n;

	if (c->at == c->closing.count)
		return 0;
	n = scheduler_drain_flow(u->scheduler, c->closing.list[c->at], pkts, DRAIN_BURST);
	for (unsigned i = 0; i < n; i++)
		drop(&u->counters, pkts[i], DROP_SERVICE_FLOW_REMOVED);
	if (scheduler_flow_held(u->scheduler, c->closing.list[c->at]) > 0)
		return DRAIN_WORK;
	RTE_VERIFY(scheduler_set_flow(u->scheduler, c->closing.list[c->at++], &none) == NULL);
	return FLOW_WORK;
}

static unsigned close_modem(struct ds_change *c) {
	const struct scheduler_modem none = {0};
	const uint32_t *slots = c->leaving[LIVE_MODEM].list;

	if (c->at == c->leaving[LIVE_MODEM].count)
		return 0;
	RTE_VERIFY(scheduler_set_modem(c->d->upper.scheduler, slots[c->at++], &none) == NULL);
	return MODEM_WORK;
}

static unsigned close_group(struct ds_change *c) {
	const struct scheduler_group none = {0};
	const uint32_t *slots = c->leaving[LIVE_BONDING_GROUP].list;

	if (c->at == c->leaving[LIVE_BONDING_GROUP].count)
		return 0;
	RTE_VERIFY(scheduler_set_group(c->d->upper.scheduler, slots[c->at++], &none) == NULL);
	return GROUP_WORK;
}

static unsigned close_channel(struct ds_change *c) {
	const struct scheduler_channel none = {0};
	const uint32_t *slots = c->leaving[LIVE_CHANNEL].list;

	if (c->at == c->leaving[LIVE_CHANNEL].count)
		return 0;
	RTE_VERIFY(scheduler_set_channel(c->d->upper.scheduler, slots[c->at], &none) == NULL);
	qos_capacity_change(&c->d->upper, slots[c->at++], 0);
	return GROUP_WORK;
}

bool ds_change_close(void *change) {
	static change_piece *const phases[] = {close_flow, close_modem, close_group, close_channel};

	return run_phases(change, phases, RTE_DIM(phases));
}
