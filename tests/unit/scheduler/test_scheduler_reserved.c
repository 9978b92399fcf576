/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: minimum reserved traffic rates, kept whatever else wants to go. */
#include "test.h"

#include "scheduler_rig.h"

#define EXACT 0.005
#define RESERVED_MAX_SAVED (10 * RIG_MS) /* at the reserved rate */
#define STARVATION 0.01 /* part of a channel that low priorities get in any case */

static uint32_t own_modem(struct rig *r) {
	return rig_modem(r, 0, 0);
}

/* Priority 7 without a limit on group 0, backlogged. */
static void add_flood(struct rig *r, uint32_t group) {
	rig_flow(r, (struct scheduler_flow){.group = group, .modem = own_modem(r), .priority = 7});
}

static void add_reserved(struct rig *r, uint32_t group, uint64_t mbps, uint16_t packet) {
	rig_flow(r, (struct scheduler_flow){.group = group,
					    .modem = own_modem(r),
					    .reserved = RIG_BPS(mbps),
					    .reserved_packet = packet});
}

static void measure_second(struct rig *r) {
	rig_run(r, 50 * RIG_MS);
	rig_mark(r);
	rig_run(r, RIG_S);
}

/* At least the reserved rate, and of what is beyond it no more than the starving get. */
static void expect_reserved(const struct rig *r, uint32_t flow, double expected, double channel) {
	double rate = rig_rate_sum(r, flow, 1);

	if (rate < expected * (1 - EXACT) || rate > expected * (1 + EXACT) + STARVATION * channel)
		fail_msg("flow %u gets %.0f bps where %.0f are reserved", flow, rate, expected);
}

static void low_priority_against_a_flood(void **state) {
	static const uint64_t mbps[] = {1, 5, 10, 20, 40};
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	for (size_t i = 0; i < ARRAY_COUNT(mbps); i++)
		add_reserved(&r, 0, mbps[i], 0);
	add_flood(&r, 0);
	add_flood(&r, 0);
	rig_start(&r);
	for (uint32_t i = 0; i < r.config.flow_count; i++)
		rig_feed_always(&r, i, 64, 1518);
	measure_second(&r);
	for (uint32_t i = 0; i < ARRAY_COUNT(mbps); i++)
		expect_reserved(&r, i, 1e6 * (double)mbps[i], 100e6);
	assert_true(rig_rate_sum(&r, 5, 2) > 22e6);
	rig_expect_filled(&r, 0, 1);
	rig_end(&r);
}

/* Short packets count with the assumed size: 5 of 10 Mbps, where 64 bytes count as 128. */
static void assumed_minimum_packet_size(void **state) {
	static const struct {
		uint32_t bytes;
		uint16_t assumed;
		double part;
	} cases[] = {{64, 128, 0.5}, {128, 128, 1}, {1000, 128, 1}, {100, 1000, 0.1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rig r = rig_make();

		rig_channel(&r, RIG_BPS(100));
		rig_group_range(&r, 0, 1);
		add_reserved(&r, 0, 10, cases[i].assumed);
		add_flood(&r, 0);
		rig_start(&r);
		rig_feed_always(&r, 0, cases[i].bytes, cases[i].bytes);
		rig_feed_always(&r, 1, 1518, 1518);
		measure_second(&r);
		expect_reserved(&r, 0, 10e6 * cases[i].part, 100e6 * cases[i].bytes / 1518);
		rig_end(&r);
	}
}

/* The modem's 20 Mbps hold for all of it: 5 reserved ones first, the flood has the rest. */
static void reserved_within_the_aggregate(void **state) {
	struct rig r = rig_make();
	uint32_t modem = rig_modem(&r, RIG_BPS(20), 25000);

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .reserved = RIG_BPS(5)});
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .priority = 7});
	rig_start(&r);
	for (uint32_t i = 0; i < 2; i++)
		rig_feed_always(&r, i, 64, 1518);
	measure_second(&r);
	rig_expect("modem", 0, rig_rate_sum(&r, 0, 2), 20e6, EXACT);
	expect_reserved(&r, 0, 5e6, 20e6);
	rig_end(&r);
}

/* What is reserved is not held back by the aggregate, not even where there is more of it. */
static void reserved_beyond_the_aggregate(void **state) {
	struct rig r = rig_make();
	uint32_t modem = rig_modem(&r, RIG_BPS(4), 25000);

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .reserved = RIG_BPS(5)});
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .priority = 7});
	rig_start(&r);
	for (uint32_t i = 0; i < 2; i++)
		rig_feed_always(&r, i, 64, 1518);
	rig_run(&r, 500 * RIG_MS); /* the modem's burst is gone */
	measure_second(&r);
	rig_expect("flow", 0, rig_rate(&r, 0), 5e6, EXACT);
	assert_int_equal(r.flows[1].packets, 0);
	rig_end(&r);
}

/* Reserved and sustained the same: it gets that, and the rig sees that it gets no more. */
static void reserved_keeps_the_sustained_rate(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	for (int i = 0; i < 3; i++)
		rig_flow(&r, (struct scheduler_flow){.modem = own_modem(&r),
						     .sustained = rig_limit(RIG_BPS(10)),
						     .reserved = RIG_BPS(10)});
	add_flood(&r, 0);
	rig_start(&r);
	for (uint32_t i = 0; i < 4; i++)
		rig_feed_always(&r, i, 64, 1518);
	measure_second(&r);
	for (uint32_t i = 0; i < 3; i++)
		rig_expect("flow", i, rig_rate(&r, i), 10e6, EXACT);
	rig_expect("flood", 3, rig_rate(&r, 3), 70e6, EXACT);
	rig_end(&r);
}

/* More reserved than there is: packet by packet in turn, whatever their sizes. */
static void overbooked_is_shared_by_packet(void **state) {
	static const uint32_t bytes[] = {1500, 1000, 500};
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(60));
	rig_group_range(&r, 0, 1);
	for (size_t i = 0; i < ARRAY_COUNT(bytes); i++)
		add_reserved(&r, 0, 60, 0);
	add_flood(&r, 0);
	rig_start(&r);
	for (uint32_t i = 0; i < ARRAY_COUNT(bytes); i++)
		rig_feed_always(&r, i, bytes[i], bytes[i]);
	rig_feed_always(&r, 3, 1518, 1518);
	measure_second(&r);
	for (uint32_t i = 0; i < ARRAY_COUNT(bytes); i++)
		rig_expect("packets of flow", i, (double)r.flows[i].packets,
			   (double)r.flows[0].packets, EXACT);
	assert_true(rig_rate_sum(&r, 3, 1) < STARVATION * 60e6);
	assert_true(rig_rate_sum(&r, 0, 3) > (1 - STARVATION) * 60e6);
	rig_end(&r);
}

/* A flow that was idle does not catch up on what it did not want. */
static void idle_flow_saves_nothing_up(void **state) {
	struct rig r = rig_make();
	double most;

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	add_reserved(&r, 0, 20, 0);
	add_flood(&r, 0);
	rig_start(&r);
	rig_feed_always(&r, 1, 1518, 1518);
	rig_run(&r, 300 * RIG_MS);
	rig_feed_always(&r, 0, 1000, 1000);
	rig_mark(&r);
	rig_run(&r, 20 * RIG_MS);
	most = 20e6 * 0.02 + 2 * 8000 + STARVATION * 100e6 * 0.02;
	if (8.0 * (double)r.flows[0].bytes > most)
		fail_msg("%llu bytes after a rest", (unsigned long long)r.flows[0].bytes);
	assert_true(8.0 * (double)r.flows[0].bytes > 0.95 * 20e6 * 0.02);
	rig_end(&r);
}

/*
 * One that had to wait catches up on 10 ms. It waits behind a channel that is made to stand still:
 * steps of the clock of 100 ms, the lead of which is all that goes in each.
 */
static void waiting_flow_saves_ten_milliseconds(void **state) {
	struct rig r = rig_make();
	double saved = 20e6 * RESERVED_MAX_SAVED / 1e9, rate = 20e6 * 0.02, bits;

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	add_reserved(&r, 0, 20, 0);
	add_flood(&r, 0);
	rig_start(&r);
	rig_feed_always(&r, 0, 1000, 1000);
	rig_feed_always(&r, 1, 1000, 1000);
	rig_run(&r, 100 * RIG_MS);
	r.now += 100 * RIG_MS;
	rig_mark(&r);
	rig_run(&r, 20 * RIG_MS);
	bits = 8.0 * (double)r.flows[0].bytes;
	if (bits > saved + rate + 3 * 8000 + STARVATION * 100e6 * 0.02 ||
	    bits < saved + rate - 16000)
		fail_msg("%.0f bits after a wait", bits);
	rig_end(&r);
}

/* The flood is in another group that shares the channels. */
static void across_overlapping_groups(void **state) {
	struct rig r = rig_make();

	(void)state;
	for (int i = 0; i < 3; i++)
		rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 2);
	rig_group_range(&r, 0, 3);
	add_reserved(&r, 0, 60, 0);
	add_reserved(&r, 0, 30, 0);
	add_reserved(&r, 1, 50, 0);
	add_flood(&r, 1);
	add_flood(&r, 2);
	rig_start(&r);
	for (uint32_t i = 0; i < 5; i++)
		rig_feed_always(&r, i, 64, 1518);
	measure_second(&r);
	expect_reserved(&r, 0, 60e6, 300e6);
	expect_reserved(&r, 1, 30e6, 300e6);
	expect_reserved(&r, 2, 50e6, 300e6);
	rig_expect_filled(&r, 0, 3);
	rig_end(&r);
}

/* What a flow took of an idle channel does not cost it its reserved rate when the channel fills. */
static void reserved_rate_is_back_soon(void **state) {
	const uint64_t reserved = RIG_BPS(2);
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_modem(&r, 0, 0);
	rig_modem(&r, 0, 0);
	rig_flow(&r, (struct scheduler_flow){.reserved = reserved});
	rig_flow(&r, (struct scheduler_flow){.modem = 1, .priority = 7});
	rig_start(&r);
	rig_feed(&r, 0,
		 (struct rig_source){.kind = RIG_STEADY,
				     .smallest = 1000,
				     .largest = 1000,
				     .rate = 20 * reserved});
	rig_run(&r, RIG_S);
	rig_expect("idle channel", 0, rig_rate(&r, 0), 20.0 * (double)reserved, 0.01);
	rig_feed_always(&r, 1, 1500, 1500);
	rig_run(&r, 20 * RIG_MS);
	for (size_t i = 0; i < 10; i++) {
		rig_mark(&r);
		rig_run(&r, 50 * RIG_MS); /* 12.5 packets, and what lower columns get */
		assert_in_range(r.flows[0].packets, 12, 17);
	}
	rig_end(&r);
}

/* A flow that waits for its reserved rate, and has none any more, waits by its priority. */
static void reserved_flow_loses_its_reservation(void **state) {
	struct rig r = rig_make();
	struct scheduler_flow f;

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.reserved = RIG_BPS(200)});
	rig_flow(&r, (struct scheduler_flow){.priority = 7});
	rig_start(&r);
	rig_feed_always(&r, 0, 1500, 1500);
	rig_feed_always(&r, 1, 1500, 1500);
	rig_run(&r, 50 * RIG_MS);
	f = r.flow_configs[0];
	f.reserved = 0;
	assert_null(scheduler_set_flow(r.s, 0, &f));
	rig_mark(&r);
	rig_run(&r, 200 * RIG_MS);
	assert_in_range(r.flows[0].bytes * 100, 0, r.flows[1].bytes);
	rig_end(&r);
}

/* A flow that leaves a group whose channel is busy for long has its reserved rate in the next at once. */
static void reserved_flow_changes_its_group(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, 100000); /* 1,500 bytes take 120 ms */
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_group_range(&r, 1, 1);
	rig_flow(&r, (struct scheduler_flow){.reserved = RIG_BPS(5)});
	rig_flow(&r, (struct scheduler_flow){.group = 1, .priority = 7});
	rig_start(&r);
	rig_feed_always(&r, 0, 1500, 1500);
	rig_feed_always(&r, 1, 1500, 1500);
	rig_run(&r, 10 * RIG_MS);
	r.flow_configs[0].group = 1;
	r.flows[0].latest_ns = 0; /* groups of one channel have no skew */
	assert_null(scheduler_set_flow(r.s, 0, &r.flow_configs[0]));
	rig_mark(&r);
	rig_run(&r, 100 * RIG_MS);
	assert_in_range(r.flows[0].bytes, 62500 - 1500, 62500 * 1.2 + 12500);
	rig_end(&r);
}

/* What a long packet takes of the meter is held against the flow until it has another one: then 10 ms. */
static void meter_comes_back_in_time(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(2));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.reserved = 80000});
	rig_flow(&r, (struct scheduler_flow){.priority = 7});
	rig_start(&r);
	assert_int_equal(rig_put(&r, 0, 100), SCHEDULER_QUEUED);
	assert_int_equal(rig_put(&r, 0, 10000), SCHEDULER_QUEUED); /* 1 s of its reserved rate */
	for (int i = 0; i < 100; i++)
		assert_int_equal(rig_put(&r, 0, 100), SCHEDULER_QUEUED); /* 10 ms each */
	while (r.flows[0].packets < 3)
		rig_run(&r, RIG_STEP_NS);
	rig_feed_always(&r, 1, 1500, 1500);
	rig_mark(&r);
	rig_run(&r, 300 * RIG_MS);
	assert_in_range(r.flows[0].packets, 25, 31);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(low_priority_against_a_flood),
		cmocka_unit_test(assumed_minimum_packet_size),
		cmocka_unit_test(reserved_within_the_aggregate),
		cmocka_unit_test(reserved_beyond_the_aggregate),
		cmocka_unit_test(reserved_keeps_the_sustained_rate),
		cmocka_unit_test(overbooked_is_shared_by_packet),
		cmocka_unit_test(idle_flow_saves_nothing_up),
		cmocka_unit_test(waiting_flow_saves_ten_milliseconds),
		cmocka_unit_test(across_overlapping_groups),
		cmocka_unit_test(reserved_rate_is_back_soon),
		cmocka_unit_test(reserved_flow_loses_its_reservation),
		cmocka_unit_test(reserved_flow_changes_its_group),
		cmocka_unit_test(meter_comes_back_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
