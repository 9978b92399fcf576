/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: the order of groups, modems and flows, and when packets may go by their rates. */
#include "test.h"

#include "scheduler/internal.h"
#include "scheduler_rig.h"

#define LENGTH 1000

/* At the very beginning, with a burst of no more than the packet. */
static void a_packet_as_long_as_the_burst_goes_at_once(void **state) {
	const struct scheduler_limit limit = {RIG_BPS(1), LENGTH};
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_modem(&r, limit.rate, limit.burst);
	rig_modem(&r, 0, 0);
	rig_flow(&r, (struct scheduler_flow){0});
	rig_flow(&r, (struct scheduler_flow){.modem = 1, .sustained = limit});
	rig_start(&r);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(rig_put(&r, i, LENGTH), SCHEDULER_QUEUED);
		assert_int_equal(rig_put(&r, i, LENGTH), SCHEDULER_QUEUED);
	}
	assert_int_equal(rig_take(&r, 4), 2);
	assert_int_equal(r.flows[0].packets, 1);
	assert_int_equal(r.flows[1].packets, 1);
	rig_end(&r);
}

/* Of two groups one has the higher priority: the other one has the share of what is lower. */
static void lower_of_two_groups_has_its_share(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	for (uint32_t i = 0; i < 2; i++) {
		rig_group_range(&r, 0, 1);
		rig_flow(&r, (struct scheduler_flow){.group = i, .priority = i == 0 ? 7 : 0});
	}
	rig_start(&r);
	for (uint32_t i = 0; i < 2; i++)
		rig_feed_always(&r, i, 1500, 1500);
	rig_run(&r, RIG_S);
	assert_in_range(r.flows[1].bytes, r.flows[0].bytes / LOWER_COST / 2,
			r.flows[0].bytes / LOWER_COST * 2);
	rig_end(&r);
}

/* Modems with one packet at a time, there again as soon as it went, have their turns as one that is
 * backlogged has in another group. */
static void who_comes_and_goes_has_had_its_turn(void **state) {
	const uint32_t guests = 20;
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(1000));
	rig_group_range(&r, 0, 1);
	rig_group_range(&r, 0, 1);
	for (uint32_t i = 0; i <= guests; i++) {
		rig_modem(&r, 0, 0);
		rig_flow(&r, (struct scheduler_flow){.group = i == guests, .modem = i});
	}
	rig_start(&r);
	for (uint32_t i = 0; i <= guests; i++)
		rig_feed(&r, i,
			 (struct rig_source){.kind = RIG_BACKLOGGED,
					     .smallest = 1500,
					     .largest = 1500,
					     .backlog = i < guests ? 1 : 20});
	rig_run(&r, 100 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, RIG_S);
	for (uint32_t i = 0; i < guests; i++)
		assert_in_range(r.flows[guests].bytes, r.flows[i].bytes, 3 * r.flows[i].bytes);
	rig_end(&r);
}

/* Turns of which a flow used little are not saved up: beside another one of its modem it has half. */
static void turns_are_not_saved_up(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	for (unsigned i = 0; i < 2; i++)
		rig_flow(&r, (struct scheduler_flow){0});
	rig_start(&r);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(rig_put(&r, 0, 100), SCHEDULER_QUEUED);
		rig_run(&r, 2 * RIG_STEP_NS);
	}
	for (uint32_t i = 0; i < 2; i++)
		rig_feed_always(&r, i, 1500, 1500);
	rig_mark(&r);
	rig_run(&r, 50 * RIG_MS);
	assert_in_range(r.flows[1].packets, 200, 220);
	rig_end(&r);
}

/* A flow of which all but one packet are taken out sends that one. */
static void what_a_drain_leaves_goes(void **state) {
	struct rig r = rig_make();
	void *packets[2];

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){0});
	rig_start(&r);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(rig_put(&r, 0, LENGTH), SCHEDULER_QUEUED);
	assert_int_equal(scheduler_drain_flow(r.s, 0, packets, 2), 2);
	for (unsigned i = 0; i < 2; i++)
		((struct rig_packet *)packets[i])->inside = false;
	r.inside -= 2;
	r.flows[0].verdicts[SCHEDULER_QUEUED] -= 2;
	assert_int_equal(rig_take(&r, 3), 1);
	rig_end(&r);
}

/* Flows that wait for their reserved rates, and meanwhile for their sustained ones. */
static void reserved_flows_wait_for_their_rates(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	for (unsigned i = 0; i < 5; i++)
		rig_flow(&r, (struct scheduler_flow){.sustained = {RIG_BPS(40), 1500},
						     .reserved = RIG_BPS(40),
						     .priority = (uint8_t)i});
	rig_start(&r);
	for (uint32_t i = 0; i < 5; i++)
		rig_feed_always(&r, i, 1500, 1500);
	rig_run(&r, 100 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, RIG_S);
	for (uint32_t i = 0; i < 5; i++)
		rig_expect("reserved", i, rig_rate(&r, i), (double)RIG_BPS(20), 0.1);
	rig_end(&r);
}

/* Ticks begin anew after 208 days, of which each jump is an hour: all modems have their rates then. */
static void all_modems_live_for_years(void **state) {
	const uint64_t end = REBASE_AT / TICKS_PER_NS, hour = 3600 * RIG_S;
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	for (uint32_t i = 0; i < 3; i++) {
		rig_modem(&r, RIG_BPS(10), 20000);
		rig_flow(&r, (struct scheduler_flow){.modem = i});
	}
	rig_start(&r);
	for (uint32_t i = 0; i < 3; i++)
		rig_feed_always(&r, i, 1500, 1500);
	while (r.now < end + hour) {
		r.now += hour;
		rig_send(&r);
	}
	rig_run(&r, 50 * RIG_MS); /* longer than the burst lasts */
	rig_mark(&r);
	rig_run(&r, 100 * RIG_MS);
	for (uint32_t i = 0; i < 3; i++)
		rig_expect("modem", i, rig_rate(&r, i), (double)RIG_BPS(10), 0.1);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_as_long_as_the_burst_goes_at_once),
		cmocka_unit_test(lower_of_two_groups_has_its_share),
		cmocka_unit_test(who_comes_and_goes_has_had_its_turn),
		cmocka_unit_test(turns_are_not_saved_up),
		cmocka_unit_test(what_a_drain_leaves_goes),
		cmocka_unit_test(reserved_flows_wait_for_their_rates),
		cmocka_unit_test(all_modems_live_for_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
