/* SPDX-License-Identifier: BSD-3-Clause */
#include "change_plan.h"

#include <stdlib.h>
#include <string.h>

#include "change_rig.h"
#include "test.h"

#define FLOWS_MOST 6

/* What is to be, by place, where it is another than now. */
static struct {
	struct rig_modem *modems[RIG_MODEMS];
	struct rig_filter *filters[RIG_FILTERS];
	struct rig_bonding *groups[RIG_GROUPS];
	bool modem_goes[RIG_MODEMS], filter_goes[RIG_FILTERS], group_goes[RIG_GROUPS];
	bool channel_comes[RIG_CHANNELS], channel_goes[RIG_CHANNELS];
} plan;

static uint32_t below(uint32_t n) {
	return random_below(&rig->random, n);
}

static const struct modem *modem_to_be(uint32_t slot) {
	if (plan.modem_goes[slot])
		return NULL;
	return plan.modems[slot] != NULL ? &plan.modems[slot]->is : rig->blocks[LIVE_MODEM][slot];
}

static const struct filter_group *filter_to_be(uint32_t slot) {
	if (plan.filter_goes[slot])
		return NULL;
	return plan.filters[slot] != NULL ? &plan.filters[slot]->is
					  : rig->blocks[LIVE_FILTER_GROUP][slot];
}

static const struct bonding_group *group_to_be(uint32_t slot) {
	if (plan.group_goes[slot])
		return NULL;
	return plan.groups[slot] != NULL ? &plan.groups[slot]->is
					 : rig->blocks[LIVE_BONDING_GROUP][slot];
}

static bool channel_to_be(uint32_t slot) {
	return !plan.channel_goes[slot] &&
	       (plan.channel_comes[slot] || rig->blocks[LIVE_CHANNEL][slot] != NULL);
}

static struct rig_modem *edit(uint32_t slot) {
	if (plan.modems[slot] == NULL)
		plan.modems[slot] = rig_modem(slot, 0);
	return plan.modems[slot];
}

/* One that is to be, perhaps none. */
static bool some_modem(uint32_t *slot) {
	*slot = below(RIG_MODEMS);
	return modem_to_be(*slot) != NULL;
}

static uint32_t some_group(void) {
	uint32_t g;

	do
		g = below(RIG_GROUPS);
	while (group_to_be(g) == NULL);
	return g;
}

static bool has(const struct modem *m, uint8_t address) {
	for (size_t i = 0; m != NULL && i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < RIG_IPV4 ? 3 : 15] == address)
			return true;
	}
	return false;
}

/* It goes from whoever has it, and to somebody. */
static void address_moves(void) {
	uint8_t address = (uint8_t)below(RIG_ADDRESSES);
	uint32_t to;

	for (uint32_t slot = 0; slot < RIG_MODEMS; slot++) {
		if (has(modem_to_be(slot), address))
			rig_lose_address(edit(slot), address);
	}
	if (below(8) > 0 && some_modem(&to))
		rig_address(edit(to), address);
}

static void classifiers_change(struct rig_modem *m) {
	m->is.classifier_count = 0;
	for (uint32_t n = below(5); n > 0; n--)
		rig_classifier(m, (uint16_t)(1001 + below(3)),
			       below((uint32_t)m->is.service_flow_count));
}

static bool has_flow(const struct rig_modem *m, uint32_t id) {
	for (size_t f = 0; f < m->is.service_flow_count; f++) {
		if (m->flows[f].id == id)
			return true;
	}
	return false;
}

static void flow_comes(struct rig_modem *m) {
	uint32_t id = 1 + below(99);

	if (m->is.service_flow_count < FLOWS_MOST && !has_flow(m, id))
		rig_flow(m, id, some_group());
}

/* Flows of a modem come, go, differ and change their order. */
static void flows_change(void) {
	struct rig_modem *m;
	struct service_flow first;
	uint32_t slot;

	if (!some_modem(&slot))
		return;
	m = edit(slot);
	first = m->flows[0];
	switch (below(4)) {
	case 0: flow_comes(m); break;
	case 1:
		if (m->is.service_flow_count > 1)
			rig_lose_flow(m, m->flows[below((uint32_t)m->is.service_flow_count)].id);
		break;
	case 2: m->flows[0].bonding_group = some_group(); break;
	default:
		m->flows[0] = m->flows[m->is.service_flow_count - 1];
		m->flows[m->is.service_flow_count - 1] = first;
	}
	classifiers_change(m);
}

static void modem_changes(void) {
	struct rig_modem *m;
	uint32_t slot;

	if (!some_modem(&slot))
		return;
	m = edit(slot);
	switch (below(4)) {
	case 0: classifiers_change(m); break;
	case 1: rig_generation(m, (m->is.security.key_sequence + 1) % 16); break;
	case 2:
		m->is.aggregate_rate = below(2) * 500000000;
		m->is.aggregate_burst = 100000;
		break;
	default:
		m->is.filter_group_count = 0;
		for (uint32_t g = 0; g < RIG_FILTERS && m->is.filter_group_count < 3; g++) {
			if (filter_to_be(g) != NULL && below(2))
				m->is.filter_groups[m->is.filter_group_count++] = g;
		}
	}
}

static bool number_is_used(uint8_t number) {
	for (uint32_t slot = 0; slot < RIG_MODEMS; slot++) {
		const struct modem *m = modem_to_be(slot);

		if (m != NULL && m->mac[5] == number)
			return true;
	}
	return false;
}

/* Perhaps one comes with the MAC address of one that goes. */
static void modem_comes_or_goes(void) {
	uint32_t slot = below(RIG_MODEMS);
	uint8_t number = (uint8_t)below(RIG_MODEMS + 2);

	if (rig->blocks[LIVE_MODEM][slot] != NULL) {
		if (plan.modems[slot] == NULL && below(3) == 0)
			plan.modem_goes[slot] = true;
		return;
	}
	if (plan.modems[slot] != NULL || number_is_used(number))
		return;
	plan.modems[slot] = rig_modem(slot, number);
	for (uint32_t n = 1 + below(3); n > 0 || plan.modems[slot]->is.service_flow_count == 0; n--)
		flow_comes(plan.modems[slot]);
}

static bool filter_is_used(uint32_t slot) {
	for (uint32_t k = 0; k < RIG_MODEMS; k++) {
		const struct modem *m = modem_to_be(k);

		for (size_t g = 0; m != NULL && g < m->filter_group_count; g++) {
			if (m->filter_groups[g] == slot)
				return true;
		}
	}
	return false;
}

static void filter_changes(void) {
	uint32_t slot = below(RIG_FILTERS);
	struct rig_filter *f;

	if (plan.filters[slot] != NULL || plan.filter_goes[slot])
		return;
	if (rig->blocks[LIVE_FILTER_GROUP][slot] != NULL && !filter_is_used(slot) && below(2)) {
		plan.filter_goes[slot] = true;
		return;
	}
	f = plan.filters[slot] = rig_filter(slot);
	f->is.rule_count = 0;
	for (uint32_t n = below(4); n > 0; n--)
		rig_rule(f, (uint16_t)(1001 + below(3)), below(2) ? FILTER_DENY : FILTER_PERMIT);
}

static bool group_is_used(uint32_t slot) {
	for (uint32_t k = 0; k < RIG_MODEMS; k++) {
		const struct modem *m = modem_to_be(k);

		for (size_t f = 0; m != NULL && f < m->service_flow_count; f++) {
			if (m->service_flows[f].bonding_group == slot)
				return true;
		}
	}
	return false;
}

static void group_changes(void) {
	uint32_t slot = below(RIG_GROUPS);
	struct rig_bonding *g;

	if (plan.groups[slot] != NULL || plan.group_goes[slot])
		return;
	if (rig->blocks[LIVE_BONDING_GROUP][slot] != NULL && slot > 0 && !group_is_used(slot) &&
	    below(2)) {
		plan.group_goes[slot] = true;
		return;
	}
	g = plan.groups[slot] = rig_bonding(slot);
	g->is.channel_count = 0;
	for (uint32_t c = 0; c < RIG_CHANNELS; c++) {
		if (channel_to_be(c) && (below(2) || (c == 5 && g->is.channel_count == 0)))
			g->channels[g->is.channel_count++] = c;
	}
	if (g->is.channel_count == 0)
		g->channels[g->is.channel_count++] = 0;
}

static bool channel_is_used(uint32_t slot) {
	for (uint32_t k = 0; k < RIG_GROUPS; k++) {
		const struct bonding_group *g = group_to_be(k);

		for (size_t i = 0; g != NULL && i < g->channel_count; i++) {
			if (g->channels[i] == slot)
				return true;
		}
	}
	return false;
}

static void channel_changes(void) {
	uint32_t slot = 1 + below(RIG_CHANNELS - 1);

	if (rig->blocks[LIVE_CHANNEL][slot] == NULL)
		plan.channel_comes[slot] = true;
	else if (!channel_is_used(slot))
		plan.channel_goes[slot] = true;
}

static void what_comes_to_list(void) {
	for (uint32_t c = 0; c < RIG_CHANNELS; c++) {
		if (plan.channel_comes[c] && !plan.channel_goes[c])
			rig_will(LIVE_CHANNEL, c, rig_channel(c));
	}
	for (uint32_t g = 0; g < RIG_GROUPS; g++) {
		if (plan.groups[g] != NULL)
			rig_will(LIVE_BONDING_GROUP, g, plan.groups[g]);
	}
	for (uint32_t f = 0; f < RIG_FILTERS; f++) {
		if (plan.filters[f] != NULL)
			rig_will(LIVE_FILTER_GROUP, f, plan.filters[f]);
	}
}

static void modems_to_list(void) {
	for (uint32_t m = 0; m < RIG_MODEMS; m++) {
		if (plan.modem_goes[m]) {
			free(plan.modems[m]);
			rig_will(LIVE_MODEM, m, NULL);
		} else if (plan.modems[m] != NULL) {
			rig_will(LIVE_MODEM, m, plan.modems[m]);
		}
	}
}

static void what_goes_to_list(void) {
	for (uint32_t f = 0; f < RIG_FILTERS; f++) {
		if (plan.filter_goes[f])
			rig_will(LIVE_FILTER_GROUP, f, NULL);
	}
	for (uint32_t g = 0; g < RIG_GROUPS; g++) {
		if (plan.group_goes[g])
			rig_will(LIVE_BONDING_GROUP, g, NULL);
	}
	for (uint32_t c = 0; c < RIG_CHANNELS; c++) {
		if (plan.channel_goes[c])
			rig_will(LIVE_CHANNEL, c, NULL);
	}
}

static void single_values_change(void) {
	struct service_group *next = malloc(sizeof(*next));

	assert_non_null(next);
	*next = rig->sg;
	next->rate_limit = below(2) * UINT64_C(3000000000);
	next->cpe_timeout_ns = 1 + below(1000000);
	rig_will(LIVE_GROUP, 0, next);
}

void plan_something(void) {
	static void (*const changes[])(void) = {
		address_moves,	address_moves,	flows_change,  flows_change,
		modem_changes,	modem_changes,	modem_changes, modem_comes_or_goes,
		filter_changes, filter_changes, group_changes, channel_changes,
	};

	memset(&plan, 0, sizeof(plan));
	for (uint32_t n = 1 + below(below(4) ? 3 : 20); n > 0; n--)
		changes[below(ARRAY_COUNT(changes))]();
	if (below(10) == 0)
		single_values_change();
	what_comes_to_list(); /* before what refers to it, and it goes after that */
	modems_to_list();
	what_goes_to_list();
}
