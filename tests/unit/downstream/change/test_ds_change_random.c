/* SPDX-License-Identifier: BSD-3-Clause */
/* Applies random changes while random packets pass, and compares each packet's result with the
 * configuration. */
#include "test_main.h"

#include "change_kit.h"

#define ROUNDS RANDOM_ITERATIONS(4000)
#define MAX_FLOWS 6 /* per modem */

static uint32_t draw(uint32_t n) {
	return random_below(&kit->random, n);
}

static bool is_desired(enum live_object object, uint32_t slot) {
	return kit->next.exists[object][slot];
}

static bool refers_to(uint32_t user, enum live_object object, uint32_t slot) {
	const struct modem *m = &kit->next.modems[user];
	bool found = false;

	if (object == LIVE_CHANNEL) {
		for (size_t i = 0;
		     user < KIT_BONDING_GROUPS && i < kit->next.groups[user].channel_count; i++)
			found |= kit->next.groups[user].channels[i] == slot;
		return found;
	}
	for (size_t f = 0; f < m->service_flow_count; f++)
		found |= object == LIVE_BONDING_GROUP && m->service_flows[f].bonding_group == slot;
	for (size_t i = 0; i < m->filter_group_count; i++)
		found |= object == LIVE_FILTER_GROUP && m->filter_groups[i] == slot;
	return found;
}

/* Removes an existing object at random if no other refers to it. Returns whether it did. */
static bool remove_unused(enum live_object object, uint32_t slot) {
	bool used = !kit->now.exists[object][slot] || draw(2) == 0;

	for (uint32_t user = 0; user < KIT_MODEMS; user++)
		used |= refers_to(user, object, slot);
	if (!used)
		kit_remove(object, slot);
	return !used;
}

/* A random desired modem, or NULL. */
static struct modem *random_modem(void) {
	uint32_t slot = draw(KIT_MODEMS);

	return is_desired(LIVE_MODEM, slot) ? kit_edit_modem(slot, 0) : NULL;
}

static uint32_t random_group(void) {
	uint32_t g;

	do
		g = draw(KIT_BONDING_GROUPS);
	while (!is_desired(LIVE_BONDING_GROUP, g));
	return g;
}

/* Moves an address from its modem to another; NULL: removes it. */
static void move_address(uint8_t address, struct modem *second) {
	for (uint32_t slot = 0; slot < KIT_MODEMS; slot++) {
		if (kit_has_address(&kit->next.modems[slot], address))
			kit_remove_address(kit_edit_modem(slot, 0), address);
	}
	if (second != NULL)
		kit_add_address(second, address);
}

static void edit_addresses(void) {
	move_address((uint8_t)draw(KIT_ADDRESSES), draw(8) > 0 ? random_modem() : NULL);
}

static void edit_classifiers(struct modem *m) {
	m->classifier_count = 0;
	for (uint32_t n = draw(5); n > 0; n--)
		kit_add_classifier(m, (uint16_t)(1001 + draw(3)),
				   draw((uint32_t)m->service_flow_count));
}

static void add_flow(struct modem *m) {
	uint32_t id = 1 + draw(99);

	for (size_t f = 0; f < m->service_flow_count; f++) {
		if (m->service_flows[f].id == id)
			return;
	}
	if (m->service_flow_count < MAX_FLOWS)
		kit_add_flow(m, id, random_group());
}

/* Adds, removes, changes or reorders flows of a random modem. */
static void edit_flows(void) {
	struct modem *m = random_modem();
	struct service_flow first;

	if (m == NULL)
		return;
	first = m->service_flows[0];
	switch (draw(4)) {
	case 0: add_flow(m); break;
	case 1:
		if (m->service_flow_count > 1)
			kit_remove_flow(m,
					m->service_flows[draw((uint32_t)m->service_flow_count)].id);
		break;
	case 2: m->service_flows[0].bonding_group = random_group(); break;
	default:
		m->service_flows[0] = m->service_flows[m->service_flow_count - 1];
		m->service_flows[m->service_flow_count - 1] = first;
	}
	edit_classifiers(m);
}

static void edit_modem(void) {
	struct modem *m = random_modem();

	if (m == NULL)
		return;
	switch (draw(4)) {
	case 0: edit_classifiers(m); break;
	case 1: kit_set_key(&m->security, (m->security.key_sequence + 1) % 16); break;
	case 2:
		m->aggregate_rate = draw(2) * 500000000;
		m->aggregate_burst = 100000;
		break;
	default:
		m->filter_group_count = 0;
		for (uint32_t g = 0; g < KIT_FILTER_GROUPS && m->filter_group_count < 3; g++) {
			if (is_desired(LIVE_FILTER_GROUP, g) && draw(2))
				m->filter_groups[m->filter_group_count++] = g;
		}
	}
}

/* Adds or removes a modem. It may reuse the MAC address or addresses of a removed one. */
static void add_or_remove_modem(void) {
	uint32_t slot = draw(KIT_MODEMS);
	uint8_t number = (uint8_t)draw(KIT_MODEMS + 2);
	struct modem *m;

	if (kit->now.exists[LIVE_MODEM][slot]) {
		if (draw(2))
			kit_remove(LIVE_MODEM, slot);
		return;
	}
	for (uint32_t s = 0; s < KIT_MODEMS; s++) {
		if (is_desired(LIVE_MODEM, s) &&
		    (s == slot || kit->next.modems[s].mac[5] == number))
			return;
	}
	m = kit_edit_modem(slot, number);
	for (uint32_t n = 1 + draw(3); n > 0 || m->service_flow_count == 0; n--)
		add_flow(m);
}

static void edit_filter_group(void) {
	uint32_t slot = draw(KIT_FILTER_GROUPS);
	struct filter_group *f;

	if (kit->edited[LIVE_FILTER_GROUP][slot] || remove_unused(LIVE_FILTER_GROUP, slot))
		return;
	f = kit_edit_filter_group(slot);
	f->rule_count = 0;
	for (uint32_t n = draw(4); n > 0; n--)
		kit_add_rule(f, (uint16_t)(1001 + draw(3)), draw(2) ? FILTER_DENY : FILTER_PERMIT);
}

static void edit_bonding_group(void) {
	uint32_t slot = draw(KIT_BONDING_GROUPS);
	struct bonding_group *g;

	if (kit->edited[LIVE_BONDING_GROUP][slot] ||
	    (slot > 0 && remove_unused(LIVE_BONDING_GROUP, slot)))
		return;
	g = kit_edit_bonding_group(slot);
	g->channel_count = 0;
	for (uint32_t c = 0; c < KIT_CHANNELS; c++) {
		if (is_desired(LIVE_CHANNEL, c) && draw(2))
			g->channels[g->channel_count++] = c;
	}
	if (g->channel_count == 0)
		g->channels[g->channel_count++] = 0;
}

static void edit_channel(void) {
	uint32_t slot = 1 + draw(KIT_CHANNELS - 1);

	if (is_desired(LIVE_CHANNEL, slot))
		remove_unused(LIVE_CHANNEL, slot);
	else if (!kit->edited[LIVE_CHANNEL][slot])
		kit_edit_channel(slot);
}

/* Moves most addresses to the first modem or removes them, and some of its own to the second. */
static void move_many_addresses(struct modem *first, struct modem *second) {
	for (uint8_t a = 0; a < KIT_ADDRESSES; a++) {
		if (kit_has_address(first, a))
			move_address(a, draw(2) ? second : first);
		else if (!kit_has_address(second, a))
			move_address(a, draw(3) ? first : NULL);
	}
}

/* Moves so many addresses that the change needs several steps. Also changes flows. */
static void edit_many(void) {
	struct modem *first = NULL, *second = NULL;
	uint32_t slot = draw(KIT_MODEMS);

	for (unsigned tries = 0; tries < 20 && (first == NULL || second == NULL || first == second);
	     tries++) {
		first = random_modem();
		second = random_modem();
	}
	if (first != NULL && second != NULL && first != second)
		move_many_addresses(first, second);
	for (unsigned n = 0; n < 10; n++)
		edit_flows();
	if (kit->now.exists[LIVE_MODEM][slot] && !kit->next.modems[slot].address_count)
		kit_remove(LIVE_MODEM, slot);
}

static void edit_objects(void) {
	static void (*const changes[])(void) = {
		edit_addresses,	   edit_addresses,     edit_flows,	  edit_flows,
		edit_modem,	   edit_modem,	       edit_modem,	  add_or_remove_modem,
		edit_filter_group, edit_bonding_group, edit_filter_group, edit_channel,
	};

	for (uint32_t n = 1 + draw(draw(4) ? 3 : 20); n > 0; n--)
		changes[draw(ARRAY_COUNT(changes))]();
	if (draw(10) == 0) {
		kit_edit_group()->rate_limit = draw(2) * UINT64_C(3000000000);
		kit_edit_group()->cpe_timeout_ns = 1 + draw(1000000);
	}
	kit->modems_removed_first = draw(2);
}

static void send_packets(void) {
	for (uint32_t n = draw(12); n > 0; n--)
		kit_send((uint8_t)draw(KIT_ADDRESSES), (uint16_t)(1000 + draw(4)));
	if (draw(3) > 0)
		kit_round();
}

/* Sends so many packets to removed modems that some stay in their flows and in the ring. */
static void send_to_removed_modems(void) {
	const uint32_t first = kit->serial;

	for (uint32_t n = 0; n < KIT_MODEMS * KIT_ADDRESSES; n++) {
		const uint32_t slot = n / KIT_ADDRESSES;
		const uint8_t address = (uint8_t)(n % KIT_ADDRESSES);

		if (kit->next.exists[LIVE_MODEM][slot] ||
		    !kit_has_address(&kit->now.modems[slot], address))
			continue;
		for (uint32_t packets = draw(40); packets > 0 && kit->serial < first + 200;
		     packets--)
			kit_send(address, 7);
	}
}

static void send_to_all(void) {
	kit_send_all();
	kit_round();
}

/* Checks the number of entries of the tables. */
static void check_tables(void) {
	const struct ds_tables *t = &kit->d->tables;
	uint32_t modems = 0, flows = 0, ipv4 = 0, ipv6 = 0;

	for (uint32_t s = 0; s < KIT_MODEMS; s++) {
		const struct modem *m = &kit->now.modems[s];

		modems += modem_exists(m);
		flows += (uint32_t)m->service_flow_count;
		for (size_t a = 0; a < m->address_count; a++)
			*(m->addresses[a].family == 4 ? &ipv4 : &ipv6) += 1;
	}
	assert_int_equal(rte_hash_count(t->ipv4), ipv4);
	assert_int_equal(rte_hash_count(t->ipv6), ipv6);
	assert_int_equal(rte_hash_count(t->mac), modems);
	assert_int_equal(kit->d->slots.free_flow_count, KIT_FLOWS - flows);
}

static void apply_random_changes(enum filter_action filter_default, unsigned rounds) {
	unsigned refused = 0, abandoned = 0;

	kit_open(filter_default);
	for (unsigned i = 0; i < rounds; i++) {
		const bool many = draw(6) == 0;

		if (many)
			edit_many();
		else
			edit_objects();
		send_packets();
		send_to_removed_modems();
		if (!kit_prepare()) {
			refused++;
			assert_true(strstr(kit->why, "no capacity for") != NULL ||
				    strstr(kit->why, "no free slot for") != NULL);
		} else if (draw(8) == 0) {
			send_packets();
			kit_abandon();
			abandoned++;
		} else {
			kit_apply(many ? send_to_all : send_packets);
			send_packets();
			kit_finish(draw(2));
		}
		check_tables();
		send_packets();
	}
	kit_settle();
	assert_int_equal(kit->received + kit_count_removed(), kit->queued);
	assert_true(kit->received > kit->queued / 2);

	assert_true(kit_count_removed() > 0 || filter_default == FILTER_DENY);
	assert_true(abandoned > 0);
	assert_true(refused < rounds / 4);
	kit_close();
}

TEST(random_changes_with_default_permit) {
	apply_random_changes(FILTER_PERMIT, ROUNDS);
}

TEST(random_changes_with_default_deny) {
	apply_random_changes(FILTER_DENY, ROUNDS / 4);
}
