/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes and random packets: after each step a packet goes where the configuration says, looked up in
 * the plainest way (kit_send()), and each frame comes back once, under a key that its header names.
 */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "change_kit.h"

#define ROUNDS RANDOM_TURNS(4000)
#define FLOWS_MOST 6

/* What is to be, by object and slot, where it is another than now. */
static struct {
	void *next[LIVE_OBJECTS][KIT_MODEMS];
	bool goes[LIVE_OBJECTS][KIT_MODEMS];
} plan;

static uint32_t below(uint32_t n) {
	return random_below(&kit->random, n);
}

/* The object itself stands first in its block. NULL: there is none. */
static const void *to_be(enum live_object object, uint32_t slot) {
	if (plan.goes[object][slot])
		return NULL;
	return plan.next[object][slot] != NULL ? plan.next[object][slot]
					       : kit->blocks[object][slot];
}

static bool refers(uint32_t user, enum live_object object, uint32_t slot) {
	const struct modem *m = to_be(LIVE_MODEM, user);
	const struct bonding_group *g = to_be(LIVE_BONDING_GROUP, user);
	bool found = false;

	if (object == LIVE_CHANNEL) {
		for (size_t i = 0; g != NULL && i < g->channel_count; i++)
			found |= g->channels[i] == slot;
		return found;
	}
	for (size_t f = 0; m != NULL && f < m->service_flow_count; f++)
		found |= object == LIVE_BONDING_GROUP && m->service_flows[f].bonding_group == slot;
	for (size_t i = 0; m != NULL && i < m->filter_group_count; i++)
		found |= object == LIVE_FILTER_GROUP && m->filter_groups[i] == slot;
	return found;
}

/* Has what is there and not used go at times. */
static bool goes(enum live_object object, uint32_t slot) {
	bool used = kit->blocks[object][slot] == NULL || below(2) == 0;

	for (uint32_t user = 0; user < KIT_MODEMS; user++)
		used |= refers(user, object, slot);
	plan.goes[object][slot] = !used;
	return !used;
}

static struct kit_modem *edit(uint32_t slot) {
	if (plan.next[LIVE_MODEM][slot] == NULL)
		plan.next[LIVE_MODEM][slot] = kit_modem(slot, 0);
	return plan.next[LIVE_MODEM][slot];
}

/* One that is to be, perhaps none. */
static struct kit_modem *some_modem(void) {
	uint32_t slot = below(KIT_MODEMS);

	return to_be(LIVE_MODEM, slot) != NULL ? edit(slot) : NULL;
}

static uint32_t some_group(void) {
	uint32_t g;

	do
		g = below(KIT_GROUPS);
	while (to_be(LIVE_BONDING_GROUP, g) == NULL);
	return g;
}

static bool has(const struct modem *m, uint8_t address) {
	for (size_t i = 0; m != NULL && i < m->address_count; i++) {
		if (m->addresses[i].bytes[address < KIT_IPV4 ? 3 : 15] == address)
			return true;
	}
	return false;
}

/* It goes from whoever has it, and to somebody. */
static void address_moves(void) {
	uint8_t address = (uint8_t)below(KIT_ADDRESSES);
	struct kit_modem *to;

	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		if (has(to_be(LIVE_MODEM, slot), address))
			kit_lose_address(edit(slot), address);
	}
	to = below(8) > 0 ? some_modem() : NULL;
	if (to != NULL)
		kit_address(to, address);
}

static void classifiers_change(struct kit_modem *m) {
	m->is.classifier_count = 0;
	for (uint32_t n = below(5); n > 0; n--)
		kit_classifier(m, (uint16_t)(1001 + below(3)),
			       below((uint32_t)m->is.service_flow_count));
}

static void flow_comes(struct kit_modem *m) {
	uint32_t id = 1 + below(99);

	for (size_t f = 0; f < m->is.service_flow_count; f++) {
		if (m->flows[f].id == id)
			return;
	}
	if (m->is.service_flow_count < FLOWS_MOST)
		kit_flow(m, id, some_group());
}

/* Flows of a modem come, go, differ and change their order. */
static void flows_change(void) {
	struct kit_modem *m = some_modem();
	struct service_flow first;

	if (m == NULL)
		return;
	first = m->flows[0];
	switch (below(4)) {
	case 0: flow_comes(m); break;
	case 1:
		if (m->is.service_flow_count > 1)
			kit_lose_flow(m, m->flows[below((uint32_t)m->is.service_flow_count)].id);
		break;
	case 2: m->flows[0].bonding_group = some_group(); break;
	default:
		m->flows[0] = m->flows[m->is.service_flow_count - 1];
		m->flows[m->is.service_flow_count - 1] = first;
	}
	classifiers_change(m);
}

static void modem_changes(void) {
	struct kit_modem *m = some_modem();

	if (m == NULL)
		return;
	switch (below(4)) {
	case 0: classifiers_change(m); break;
	case 1: kit_generation(m, (m->is.security.key_sequence + 1) % 16); break;
	case 2:
		m->is.aggregate_rate = below(2) * 500000000;
		m->is.aggregate_burst = 100000;
		break;
	default:
		m->is.filter_group_count = 0;
		for (uint32_t g = 0; g < KIT_FILTERS && m->is.filter_group_count < 3; g++) {
			if (to_be(LIVE_FILTER_GROUP, g) != NULL && below(2))
				m->is.filter_groups[m->is.filter_group_count++] = g;
		}
	}
}

/* Perhaps one comes with the MAC address of one that goes; one that goes may have given addresses to others before. */
static void modem_comes_or_goes(void) {
	uint32_t slot = below(KIT_MODEMS);
	uint8_t number = (uint8_t)below(KIT_MODEMS + 2);
	struct kit_modem *m;

	if (kit->blocks[LIVE_MODEM][slot] != NULL) {
		plan.goes[LIVE_MODEM][slot] |= below(3) == 0;
		return;
	}
	for (uint32_t other = 0; other < KIT_MODEMS; other++) {
		const struct modem *o = to_be(LIVE_MODEM, other);

		if (other == slot ? o != NULL : o != NULL && o->mac[5] == number)
			return;
	}
	m = plan.next[LIVE_MODEM][slot] = kit_modem(slot, number);
	for (uint32_t n = 1 + below(3); n > 0 || m->is.service_flow_count == 0; n--)
		flow_comes(m);
}

static void filter_changes(void) {
	uint32_t slot = below(KIT_FILTERS);
	struct kit_filter *f;

	if (plan.next[LIVE_FILTER_GROUP][slot] != NULL || plan.goes[LIVE_FILTER_GROUP][slot] ||
	    goes(LIVE_FILTER_GROUP, slot))
		return;
	f = plan.next[LIVE_FILTER_GROUP][slot] = kit_filter(slot);
	f->is.rule_count = 0;
	for (uint32_t n = below(4); n > 0; n--)
		kit_rule(f, (uint16_t)(1001 + below(3)), below(2) ? FILTER_DENY : FILTER_PERMIT);
}

static void group_changes(void) {
	uint32_t slot = below(KIT_GROUPS);
	struct kit_bonding *g;

	if (plan.next[LIVE_BONDING_GROUP][slot] != NULL || plan.goes[LIVE_BONDING_GROUP][slot] ||
	    (slot > 0 && goes(LIVE_BONDING_GROUP, slot)))
		return;
	g = plan.next[LIVE_BONDING_GROUP][slot] = kit_bonding(slot);
	g->is.channel_count = 0;
	for (uint32_t c = 0; c < KIT_CHANNELS; c++) {
		if (to_be(LIVE_CHANNEL, c) != NULL && below(2))
			g->channels[g->is.channel_count++] = c;
	}
	if (g->is.channel_count == 0)
		g->channels[g->is.channel_count++] = 0;
}

static void channel_changes(void) {
	uint32_t slot = 1 + below(KIT_CHANNELS - 1);

	if (to_be(LIVE_CHANNEL, slot) != NULL)
		goes(LIVE_CHANNEL, slot);
	else if (!plan.goes[LIVE_CHANNEL][slot])
		plan.next[LIVE_CHANNEL][slot] = kit_channel(slot);
}

static void single_values_change(void) {
	struct service_group *next = malloc(sizeof(*next));

	assert_non_null(next);
	*next = kit->sg;
	next->rate_limit = below(2) * UINT64_C(3000000000);
	next->cpe_timeout_ns = 1 + below(1000000);
	kit_will(LIVE_GROUP, 0, next);
}

static void list(enum live_object object, bool going) {
	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		void *next = plan.next[object][slot];

		if (plan.goes[object][slot] != going || (!going && next == NULL))
			continue;
		kit_will(object, slot, going ? NULL : next);
		if (going)
			free(next);
	}
}

/* A list of some that belong together, or have nothing to do with each other. */
static void plan_something(void) {
	static void (*const changes[])(void) = {
		address_moves,	address_moves,	flows_change,  flows_change,
		modem_changes,	modem_changes,	modem_changes, modem_comes_or_goes,
		filter_changes, filter_changes, group_changes, channel_changes,
	};
	bool modems_go_first;

	memset(&plan, 0, sizeof(plan));
	for (uint32_t n = 1 + below(below(4) ? 3 : 20); n > 0; n--)
		changes[below(ARRAY_COUNT(changes))]();
	if (below(10) == 0)
		single_values_change();
	list(LIVE_CHANNEL, false); /* before what refers to it, and it goes after that */
	list(LIVE_BONDING_GROUP, false);
	list(LIVE_FILTER_GROUP, false);
	modems_go_first = below(2);
	list(LIVE_MODEM, modems_go_first);
	list(LIVE_MODEM, !modems_go_first);
	list(LIVE_FILTER_GROUP, true);
	list(LIVE_BONDING_GROUP, true);
	list(LIVE_CHANNEL, true);
}

static void traffic(void) {
	for (uint32_t n = random_below(&kit->random, 12); n > 0; n--)
		kit_send((uint8_t)random_below(&kit->random, KIT_ADDRESSES),
			 (uint16_t)(1000 + random_below(&kit->random, 4)));
	if (random_below(&kit->random, 3) > 0)
		kit_round();
}

/* What the tables have is what there is. */
static void check_tables(void) {
	const struct ds_tables *t = &kit->d->tables;
	uint32_t modems = 0, flows = 0, ipv4 = 0, ipv6 = 0;

	for (uint32_t s = 0; s < KIT_MODEMS; s++) {
		const struct modem *m = &kit->modems[s];

		modems += modem_is_there(m);
		flows += (uint32_t)m->service_flow_count;
		for (size_t a = 0; a < m->address_count; a++)
			*(m->addresses[a].family == 4 ? &ipv4 : &ipv6) += 1;
	}
	assert_int_equal(rte_hash_count(t->ipv4), ipv4);
	assert_int_equal(rte_hash_count(t->ipv6), ipv6);
	assert_int_equal(rte_hash_count(t->mac), modems);
	assert_int_equal(kit->d->places.free_flow_count, KIT_FLOWS - flows);
}

static uint64_t removed(void) {
	struct counters c;

	downstream_counters(kit->d, &c);
	return c.drops[DROP_SERVICE_FLOW_REMOVED];
}

static void anything_changes(enum filter_action filter_default, unsigned rounds) {
	unsigned refused = 0, abandoned = 0;

	kit_open(filter_default);
	for (unsigned i = 0; i < rounds; i++) {
		plan_something();
		traffic();
		if (!kit_begin()) {
			refused++;
			assert_non_null(strstr(kit->why, "no room for"));
		} else if (random_below(&kit->random, 8) == 0) {
			traffic();
			kit_abandon();
			abandoned++;
		} else {
			kit_take(traffic);
			traffic();
			kit_finish(random_below(&kit->random, 4) > 0);
		}
		check_tables();
		traffic();
	}
	kit_settle();
	assert_int_equal(kit->back + removed(), kit->queued);
	assert_true(kit->back > kit->queued / 2);
	assert_true(abandoned > 0);
	assert_true(refused < rounds / 4);
	kit_close();
}

TEST(with_packets_permitted) {
	anything_changes(FILTER_PERMIT, ROUNDS);
}

TEST(with_packets_denied) {
	anything_changes(FILTER_DENY, ROUNDS / 4);
}
