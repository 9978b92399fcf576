/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes and random packets: after each step a packet goes where the configuration says, looked up in
 * the plainest way (kit_send()), and each frame comes back once, under a key that its header names.
 */
#include "test_main.h"

#include "change_kit.h"

#define ROUNDS RANDOM_TURNS(4000)
#define FLOWS_MOST 6

static uint32_t below(uint32_t n) {
	return random_below(&kit->random, n);
}

static bool is_to_be(enum live_object object, uint32_t slot) {
	return kit->next.there[object][slot];
}

static bool refers(uint32_t user, enum live_object object, uint32_t slot) {
	const struct modem *m = &kit->next.modems[user];
	bool found = false;

	if (object == LIVE_CHANNEL) {
		for (size_t i = 0; user < KIT_GROUPS && i < kit->next.groups[user].channel_count;
		     i++)
			found |= kit->next.groups[user].channels[i] == slot;
		return found;
	}
	for (size_t f = 0; f < m->service_flow_count; f++)
		found |= object == LIVE_BONDING_GROUP && m->service_flows[f].bonding_group == slot;
	for (size_t i = 0; i < m->filter_group_count; i++)
		found |= object == LIVE_FILTER_GROUP && m->filter_groups[i] == slot;
	return found;
}

/* Has what is there and not used go at times. */
static bool goes(enum live_object object, uint32_t slot) {
	bool used = !kit->now.there[object][slot] || below(2) == 0;

	for (uint32_t user = 0; user < KIT_MODEMS; user++)
		used |= refers(user, object, slot);
	if (!used)
		kit_remove(object, slot);
	return !used;
}

/* One that is to be, perhaps none. */
static struct modem *some_modem(void) {
	uint32_t slot = below(KIT_MODEMS);

	return is_to_be(LIVE_MODEM, slot) ? kit_modem(slot, 0) : NULL;
}

static uint32_t some_group(void) {
	uint32_t g;

	do
		g = below(KIT_GROUPS);
	while (!is_to_be(LIVE_BONDING_GROUP, g));
	return g;
}

/* From whoever has it to this one, or nobody (NULL). */
static void address_goes(uint8_t address, struct modem *to) {
	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		if (kit_has(&kit->next.modems[slot], address))
			kit_lose_address(kit_modem(slot, 0), address);
	}
	if (to != NULL)
		kit_address(to, address);
}

static void address_moves(void) {
	address_goes((uint8_t)below(KIT_ADDRESSES), below(8) > 0 ? some_modem() : NULL);
}

static void classifiers_change(struct modem *m) {
	m->classifier_count = 0;
	for (uint32_t n = below(5); n > 0; n--)
		kit_classifier(m, (uint16_t)(1001 + below(3)),
			       below((uint32_t)m->service_flow_count));
}

static void flow_comes(struct modem *m) {
	uint32_t id = 1 + below(99);

	for (size_t f = 0; f < m->service_flow_count; f++) {
		if (m->service_flows[f].id == id)
			return;
	}
	if (m->service_flow_count < FLOWS_MOST)
		kit_flow(m, id, some_group());
}

/* Flows of a modem come, go, differ and change their order. */
static void flows_change(void) {
	struct modem *m = some_modem();
	struct service_flow first;

	if (m == NULL)
		return;
	first = m->service_flows[0];
	switch (below(4)) {
	case 0: flow_comes(m); break;
	case 1:
		if (m->service_flow_count > 1)
			kit_lose_flow(m,
				      m->service_flows[below((uint32_t)m->service_flow_count)].id);
		break;
	case 2: m->service_flows[0].bonding_group = some_group(); break;
	default:
		m->service_flows[0] = m->service_flows[m->service_flow_count - 1];
		m->service_flows[m->service_flow_count - 1] = first;
	}
	classifiers_change(m);
}

static void modem_changes(void) {
	struct modem *m = some_modem();

	if (m == NULL)
		return;
	switch (below(4)) {
	case 0: classifiers_change(m); break;
	case 1: kit_generation(&m->security, (m->security.key_sequence + 1) % 16); break;
	case 2:
		m->aggregate_rate = below(2) * 500000000;
		m->aggregate_burst = 100000;
		break;
	default:
		m->filter_group_count = 0;
		for (uint32_t g = 0; g < KIT_FILTERS && m->filter_group_count < 3; g++) {
			if (is_to_be(LIVE_FILTER_GROUP, g) && below(2))
				m->filter_groups[m->filter_group_count++] = g;
		}
	}
}

/* Perhaps one comes with the MAC address of one that goes; one that goes may have given addresses to others before. */
static void modem_comes_or_goes(void) {
	uint32_t slot = below(KIT_MODEMS);
	uint8_t number = (uint8_t)below(KIT_MODEMS + 2);
	struct modem *m;

	if (kit->now.there[LIVE_MODEM][slot]) {
		if (below(2))
			kit_remove(LIVE_MODEM, slot);
		return;
	}
	for (uint32_t other = 0; other < KIT_MODEMS; other++) {
		if (is_to_be(LIVE_MODEM, other) &&
		    (other == slot || kit->next.modems[other].mac[5] == number))
			return;
	}
	m = kit_modem(slot, number);
	for (uint32_t n = 1 + below(3); n > 0 || m->service_flow_count == 0; n--)
		flow_comes(m);
}

static void filter_changes(void) {
	uint32_t slot = below(KIT_FILTERS);
	struct filter_group *f;

	if (kit->touched[LIVE_FILTER_GROUP][slot] || goes(LIVE_FILTER_GROUP, slot))
		return;
	f = kit_filter(slot);
	f->rule_count = 0;
	for (uint32_t n = below(4); n > 0; n--)
		kit_rule(f, (uint16_t)(1001 + below(3)), below(2) ? FILTER_DENY : FILTER_PERMIT);
}

static void group_changes(void) {
	uint32_t slot = below(KIT_GROUPS);
	struct bonding_group *g;

	if (kit->touched[LIVE_BONDING_GROUP][slot] || (slot > 0 && goes(LIVE_BONDING_GROUP, slot)))
		return;
	g = kit_bonding(slot);
	g->channel_count = 0;
	for (uint32_t c = 0; c < KIT_CHANNELS; c++) {
		if (is_to_be(LIVE_CHANNEL, c) && below(2))
			g->channels[g->channel_count++] = c;
	}
	if (g->channel_count == 0)
		g->channels[g->channel_count++] = 0;
}

static void channel_changes(void) {
	uint32_t slot = 1 + below(KIT_CHANNELS - 1);

	if (is_to_be(LIVE_CHANNEL, slot))
		goes(LIVE_CHANNEL, slot);
	else if (!kit->touched[LIVE_CHANNEL][slot])
		kit_channel(slot);
}

/* Addresses of all go to one modem, or to nobody, and some of what it had to another one. */
static void crowd_addresses_move(struct modem *by, struct modem *to) {
	for (uint8_t a = 0; a < KIT_ADDRESSES; a++) {
		if (kit_has(by, a))
			address_goes(a, below(2) ? to : by);
		else if (!kit_has(to, a))
			address_goes(a, below(3) ? by : NULL);
	}
}

/* So many addresses that packets pass between the steps, wherever these end. A modem may leave, and flows of all change
 * as well. */
static void crowd_moves(void) {
	struct modem *by = NULL, *to = NULL;
	uint32_t leaves = below(KIT_MODEMS);

	for (unsigned tries = 0; tries < 20 && (by == NULL || to == NULL || by == to); tries++) {
		by = some_modem();
		to = some_modem();
	}
	if (by != NULL && to != NULL && by != to)
		crowd_addresses_move(by, to);
	for (unsigned n = 0; n < 10; n++)
		flows_change();
	if (kit->now.there[LIVE_MODEM][leaves] && !kit->next.modems[leaves].address_count)
		kit_remove(LIVE_MODEM, leaves);
}

/* Some that belong together, or have nothing to do with each other. */
static void plan_something(void) {
	static void (*const changes[])(void) = {
		address_moves,	address_moves, flows_change,   flows_change,
		modem_changes,	modem_changes, modem_changes,  modem_comes_or_goes,
		filter_changes, group_changes, filter_changes, channel_changes,
	};

	for (uint32_t n = 1 + below(below(4) ? 3 : 20); n > 0; n--)
		changes[below(ARRAY_COUNT(changes))]();
	if (below(10) == 0) {
		kit_values()->rate_limit = below(2) * UINT64_C(3000000000);
		kit_values()->cpe_timeout_ns = 1 + below(1000000);
	}
	kit->modems_go_first = below(2);
}

static void traffic(void) {
	for (uint32_t n = below(12); n > 0; n--)
		kit_send((uint8_t)below(KIT_ADDRESSES), (uint16_t)(1000 + below(4)));
	if (below(3) > 0)
		kit_round();
}

/* So much that some waits in their flows, and at the end in the ring. */
static void traffic_for_leavers(void) {
	const uint32_t first = kit->serial;

	for (uint32_t n = 0; n < KIT_MODEMS * KIT_ADDRESSES; n++) {
		const uint32_t slot = n / KIT_ADDRESSES;
		const uint8_t address = (uint8_t)(n % KIT_ADDRESSES);

		if (kit->next.there[LIVE_MODEM][slot] || !kit_has(&kit->now.modems[slot], address))
			continue;
		for (uint32_t packets = below(40); packets > 0 && kit->serial < first + 200;
		     packets--)
			kit_send(address, 7);
	}
}

static void traffic_for_all(void) {
	kit_send_all();
	kit_round();
}

/* What the tables have is what there is. */
static void check_tables(void) {
	const struct ds_tables *t = &kit->d->tables;
	uint32_t modems = 0, flows = 0, ipv4 = 0, ipv6 = 0;

	for (uint32_t s = 0; s < KIT_MODEMS; s++) {
		const struct modem *m = &kit->now.modems[s];

		modems += modem_is_there(m);
		flows += (uint32_t)m->service_flow_count;
		for (size_t a = 0; a < m->address_count; a++)
			*(m->addresses[a].family == 4 ? &ipv4 : &ipv6) += 1;
	}
	assert_int_equal(rte_hash_count(t->ipv4), ipv4);
	assert_int_equal(rte_hash_count(t->ipv6), ipv6);
	assert_int_equal(rte_hash_count(t->mac), modems);
	assert_int_equal(kit->d->slots.free_flow_count, KIT_FLOWS - flows);
}

static void anything_changes(enum filter_action filter_default, unsigned rounds) {
	unsigned refused = 0, abandoned = 0;

	kit_open(filter_default);
	for (unsigned i = 0; i < rounds; i++) {
		const bool crowd = below(6) == 0;

		if (crowd)
			crowd_moves();
		else
			plan_something();
		traffic();
		traffic_for_leavers();
		if (!kit_begin()) {
			refused++;
			assert_true(strstr(kit->why, "no capacity for") != NULL ||
				    strstr(kit->why, "no free slot for") != NULL);
		} else if (below(8) == 0) {
			traffic();
			kit_abandon();
			abandoned++;
		} else {
			kit_take(crowd ? traffic_for_all : traffic);
			traffic();
			kit_finish(below(2));
		}
		check_tables();
		traffic();
	}
	kit_settle();
	assert_int_equal(kit->back + kit_removed(), kit->queued);
	assert_true(kit->back > kit->queued / 2);

	assert_true(kit_removed() > 0 || filter_default == FILTER_DENY);
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
