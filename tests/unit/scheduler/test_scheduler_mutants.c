/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: what no test saw when `make mutants` broke it. */
#include "test.h"

#include "scheduler/aqm.h"
#include "scheduler/internal.h"
#include "scheduler_rig.h"

#define LENGTH 1000

/* WRED draws from xorshift64 with the shifts 12, 25 and 27 (Marsaglia 2003; Vigna 2016). */
static void random_numbers_are_xorshift(void **state) {
	/* halfway between its thresholds, and it stays there */
	struct wred_state w = {.average = 1500,
			       .min_threshold = 1000,
			       .max_threshold = 2000,
			       .slope = 0.001,
			       .idle_ticks = 1};
	const struct aqm_queue q = {.bytes = 1500};
	uint64_t random = 1;

	(void)state;
	wred_drops(&w, &q, 0, &random);
	assert_true(random == 0x2000001);
	wred_drops(&w, &q, 0, &random);
	assert_true(random == 0x4004000802801);
	for (unsigned i = 2; i < 1000; i++)
		wred_drops(&w, &q, 0, &random);
	assert_true(random == 0x8440ebfe83528394);
}

/* The average decays from when the queue became empty, not from its last arrival. */
static void wred_decays_from_when_it_is_empty(void **state) {
	const struct scheduler_flow f = {
		.aqm = SCHEDULER_WRED,
		.wred = {.min_threshold = 100000, .max_threshold = 200000, .weight = 2},
	};
	struct aqm_state a;
	struct aqm_queue q = {.bytes = 8000};
	uint64_t random = 1;
	int64_t emptied;

	(void)state;
	aqm_set(&a, &f, true, 0);
	wred_drops(&a.wred, &q, 0, &random);
	assert_float_equal(a.wred.average, 2000, 1e-6);
	emptied = (int64_t)(100 * a.wred.idle_ticks);
	wred_empty(&a.wred, emptied);
	q.bytes = 0;
	wred_drops(&a.wred, &q, emptied + (int64_t)a.wred.idle_ticks, &random);
	assert_float_equal(a.wred.average, 2000 * 0.75 * 0.75, 1e-3);
}

static struct aqm_state pie_make(void) {
	const struct scheduler_flow f = {
		.aqm = SCHEDULER_DOCSIS_PIE,
		.buffer = 90000,
		.latency_target = 10 * RIG_MS,
	};
	struct aqm_state a;

	aqm_set(&a, &f, true, 0);
	return a;
}

/* RFC 8034, 4.4: a burst is allowed once, when congestion begins, and not again while it lasts. */
static void pie_allows_a_burst_once(void **state) {
	struct aqm_state a = pie_make();
	const struct aqm_queue q = {.bytes = 80000, .head_age = NS_TICKS(50 * RIG_MS)};
	uint64_t random = 1, begun = 0;
	unsigned drops = 0;

	(void)state;
	for (uint64_t ms = 0; ms < 20000; ms++) {
		bool active = a.pie.state == PIE_ACTIVE;

		drops += pie_drops(&a.pie, &q, 1024, NS_TICKS(ms * RIG_MS), &random);
		begun += !active && a.pie.state == PIE_ACTIVE;
	}
	assert_int_equal(begun, 1);
	assert_in_range(drops, 1000, 20000);
}

/* An empty queue does not bring it to life. */
static void pie_sleeps_until_the_queue_is_long(void **state) {
	struct aqm_state a = pie_make();
	const struct aqm_queue empty = {0}, third = {.bytes = 30000};
	uint64_t random = 1;

	(void)state;
	for (uint64_t ms = 0; ms < 100; ms++)
		assert_false(pie_drops(&a.pie, &empty, 1024, NS_TICKS(ms * RIG_MS), &random));
	assert_int_equal(a.pie.state, PIE_INACTIVE);
	assert_false(pie_drops(&a.pie, &third, 1024, NS_TICKS(100 * RIG_MS), &random));
	assert_int_equal(a.pie.state, PIE_QUIESCENT);
}

/* RFC 8034, 4.2: the lower the probability, the smaller the steps. A millisecond above the target. */
static void pie_steps_by_its_probability(void **state) {
	static const struct {
		double from, divisor; /* up to where the next one begins */
	} steps[] = {{0, 2048}, {0.000001, 512}, {0.00001, 128}, {0.0001, 32}, {0.001, 8},
		     {0.01, 2}, {0.1, 0.5},	 {1, 0.125},	 {10, 0.03125}};
	const struct aqm_queue q = {.bytes = 80000, .head_age = NS_TICKS(11 * RIG_MS)};
	const uint64_t interval = 16 * RIG_MS;
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		double last = i + 1 < ARRAY_COUNT(steps) ? 0.999 * steps[i + 1].from : 12;

		for (unsigned end = 0; end < 2; end++) {
			struct aqm_state a = pie_make();
			double before = end == 0 ? steps[i].from : last;

			a.pie.state = PIE_ACTIVE;
			a.pie.burst_allowance = 0;
			a.pie.old_delay = 0.011;
			a.pie.probability = before;
			pie_drops(&a.pie, &q, 1024, NS_TICKS(interval), &random);
			assert_float_equal((a.pie.probability - before) * steps[i].divisor,
					   0.25 * 0.001, 1e-9);
		}
	}
}

/* What begins when a queue of WRED is empty does not touch what DOCSIS-PIE knows. */
static void pie_keeps_its_state_in_an_empty_queue(void **state) {
	struct rig r = rig_make();
	struct pie_state before;

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.aqm = SCHEDULER_DOCSIS_PIE,
					     .latency_target = 10 * RIG_MS});
	rig_start(&r);
	rig_run(&r, RIG_MS);
	assert_int_equal(rig_put(&r, 0, LENGTH), SCHEDULER_QUEUED);
	before = r.s->aqm[0].pie;
	rig_send(&r);
	assert_int_equal(r.flows[0].packets, 1);
	assert_memory_equal(&r.s->aqm[0].pie, &before, sizeof(before));
	rig_end(&r);
}

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

/* Numbers that are 0, or more than timers can be numbered; nothing of the lists is read. */
static void counts_are_refused(void **state) {
	static const uint32_t list[] = {0};
	static const struct scheduler_channel channel = {.rate = RIG_BPS(100)};
	static const struct scheduler_group group = {list, 1};
	static const struct scheduler_modem modem;
	static const struct scheduler_flow flow = {
		.weight = 1, .min_buffer = 9000, .buffer = 9000, .max_buffer = 9000};
	const struct scheduler_config good = {.channels = &channel,
					      .channel_count = 1,
					      .groups = &group,
					      .group_count = 1,
					      .modems = &modem,
					      .modem_count = 1,
					      .flows = &flow,
					      .flow_count = 1,
					      .packet_limit = 10};
	const struct {
		size_t groups, modems, flows;
		const char *why;
	} cases[] = {
		{0, 1, 1, "there is no flow, group or modem"},
		{1, 0, 1, "there is no flow, group or modem"},
		{1, 1, 0, "there is no flow, group or modem"},
		{MAX_GROUPS + 1, 1, 1, "there are too many flows, groups or modems"},
		{1, UINT32_MAX / 4 + 1, 1, "there are too many flows, groups or modems"},
		{1, 1, UINT32_MAX / 4 + 1, "there are too many flows, groups or modems"},
	};
	const char *why = NULL;

	(void)state;
	scheduler_free(scheduler_create(&good, &why));
	assert_null(why);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct scheduler_config c = good;

		c.group_count = cases[i].groups;
		c.modem_count = cases[i].modems;
		c.flow_count = cases[i].flows;
		assert_null(scheduler_create(&c, &why));
		assert_string_equal(why, cases[i].why);
	}
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
		cmocka_unit_test(random_numbers_are_xorshift),
		cmocka_unit_test(wred_decays_from_when_it_is_empty),
		cmocka_unit_test(pie_allows_a_burst_once),
		cmocka_unit_test(pie_sleeps_until_the_queue_is_long),
		cmocka_unit_test(pie_steps_by_its_probability),
		cmocka_unit_test(pie_keeps_its_state_in_an_empty_queue),
		cmocka_unit_test(a_packet_as_long_as_the_burst_goes_at_once),
		cmocka_unit_test(lower_of_two_groups_has_its_share),
		cmocka_unit_test(who_comes_and_goes_has_had_its_turn),
		cmocka_unit_test(turns_are_not_saved_up),
		cmocka_unit_test(what_a_drain_leaves_goes),
		cmocka_unit_test(counts_are_refused),
		cmocka_unit_test(reserved_flows_wait_for_their_rates),
		cmocka_unit_test(all_modems_live_for_years),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
