/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes and random packets: after each step a packet goes where the configuration says, looked up in
 * the plainest way (kit_outcome()), and each frame comes back once, under a key that its header names.
 */
#include "test_main.h"

#include <string.h>

#include "change_kit.h"
#include "change_plan.h"

#define ROUNDS RANDOM_TURNS(4000)

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
