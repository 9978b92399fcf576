/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random changes and random packets: after each step a packet goes where the configuration says, looked up in
 * the plainest way (rig_outcome()), and each frame comes back once, under a key that its header names.
 */
#include "test.h"

#include <string.h>

#include "change_plan.h"
#include "change_rig.h"

#define ROUNDS RANDOM_TURNS(4000)

static void traffic(void) {
	for (uint32_t n = random_below(&rig->random, 12); n > 0; n--)
		rig_send((uint8_t)random_below(&rig->random, RIG_ADDRESSES),
			 (uint16_t)(1000 + random_below(&rig->random, 4)));
	if (random_below(&rig->random, 3) > 0)
		rig_round();
}

/* What the tables have is what there is. */
static void check_tables(void) {
	const struct ds_tables *t = &rig->d->tables;
	uint32_t modems = 0, flows = 0, ipv4 = 0, ipv6 = 0;

	for (uint32_t s = 0; s < RIG_MODEMS; s++) {
		const struct modem *m = &rig->modems[s];

		modems += modem_is_there(m);
		flows += (uint32_t)m->service_flow_count;
		for (size_t a = 0; a < m->address_count; a++)
			*(m->addresses[a].family == 4 ? &ipv4 : &ipv6) += 1;
	}
	assert_int_equal(rte_hash_count(t->ipv4), ipv4);
	assert_int_equal(rte_hash_count(t->ipv6), ipv6);
	assert_int_equal(rte_hash_count(t->mac), modems);
	assert_int_equal(rig->d->places.free_flow_count, RIG_FLOWS - flows);
}

static uint64_t removed(void) {
	struct counters c;

	downstream_counters(rig->d, &c);
	return c.drops[DROP_SERVICE_FLOW_REMOVED];
}

static void anything_changes(void **state) {
	unsigned refused = 0, abandoned = 0;

	(void)state;
	rig_open();
	for (unsigned i = 0; i < ROUNDS; i++) {
		plan_something();
		traffic();
		if (!rig_begin()) {
			refused++;
			assert_non_null(strstr(rig->why, "no room for"));
		} else if (random_below(&rig->random, 8) == 0) {
			traffic();
			rig_abandon();
			abandoned++;
		} else {
			rig_take(traffic);
			traffic();
			rig_finish(random_below(&rig->random, 4) > 0);
		}
		check_tables();
		traffic();
	}
	rig_settle();
	assert_int_equal(rig->back + removed(), rig->queued);
	assert_true(rig->back > rig->queued / 2);
	assert_true(abandoned > 0);
	assert_true(refused < ROUNDS / 4);
	rig_close();
}

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(anything_changes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
