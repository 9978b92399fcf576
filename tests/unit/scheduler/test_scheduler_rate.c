/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: rates of flows and of modems, within 0.5 % over a second. */
#include "test.h"

#include "scheduler_rig.h"

#define EXACT 0.005
#define WARM_UP (20 * RIG_MS) /* the bursts are gone */

static uint32_t limited_flow(struct rig *r, uint32_t group, uint64_t rate) {
	return rig_flow(r, (struct scheduler_flow){
				   .group = group,
				   .modem = rig_modem(r, 0, 0),
				   .sustained = rig_limit(rate),
			   });
}

static void measure_second(struct rig *r) {
	rig_run(r, WARM_UP);
	rig_mark(r);
	rig_run(r, RIG_S);
}

static void one_flow(uint64_t rate, uint32_t smallest, uint32_t largest, uint64_t step_ns,
		     bool irregular) {
	struct rig r = rig_make();
	uint32_t flow;

	rig_channel(&r, RIG_BPS(10000));
	flow = limited_flow(&r, rig_group_range(&r, 0, 1), rate);
	r.step_ns = step_ns;
	r.irregular = irregular;
	rig_start(&r);
	rig_feed_always(&r, flow, smallest, largest);
	measure_second(&r);
	rig_expect("flow of bps", rate, rig_rate(&r, flow), (double)rate, EXACT);
	rig_end(&r);
}

static void each_rate_alone(void **state) {
	static const uint64_t mbps[] = {1, 3, 10, 77, 250, 1000, 5000};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(mbps); i++)
		one_flow(RIG_BPS(mbps[i]), 1400, 1518, RIG_STEP_NS, false);
}

static void small_packets_and_odd_rates(void **state) {
	(void)state;
	one_flow(1234567, 64, 64, RIG_STEP_NS, false);
	one_flow(99999989, 64, 257, RIG_STEP_NS, false);
	one_flow(777777777, 64, 1518, RIG_STEP_NS, false);
}

static void whenever_the_clock_is_read(void **state) {
	(void)state;
	one_flow(RIG_BPS(1), 64, 1518, 50000, true);
	one_flow(RIG_BPS(100), 64, 1518, 1000, true);
	one_flow(RIG_BPS(100), 64, 1518, RIG_MS, true);
	one_flow(RIG_BPS(2000), 1000, 1518, 50000, true);
}

/* 1 Mbps beside 5 Gbps, on channels that all of them share. */
static void mix_of_rates(void **state) {
	static const uint64_t mbps[] = {1, 1, 2, 5, 10, 20, 50, 100, 200, 300, 1000, 5000};
	struct rig r = rig_make();

	(void)state;
	for (int i = 0; i < 5; i++)
		rig_channel(&r, RIG_OFDM);
	rig_group_range(&r, 0, 5);
	for (size_t i = 0; i < ARRAY_COUNT(mbps); i++)
		limited_flow(&r, 0, RIG_BPS(mbps[i]));
	rig_start(&r);
	for (uint32_t i = 0; i < ARRAY_COUNT(mbps); i++)
		rig_feed_always(&r, i, i == 11 ? 1518 : 200, 1518);
	measure_second(&r);
	for (uint32_t i = 0; i < ARRAY_COUNT(mbps); i++)
		rig_expect("flow", i, rig_rate(&r, i), 1e6 * (double)mbps[i], EXACT);
	rig_end(&r);
}

/* Less than the rate comes: all of it goes, at once. */
static void less_than_the_rate_passes(void **state) {
	static const enum rig_kind kinds[] = {RIG_STEADY, RIG_POISSON};

	(void)state;
	for (size_t k = 0; k < ARRAY_COUNT(kinds); k++) {
		struct rig r = rig_make();
		uint32_t flow;
		struct scheduler_delay_report delays;

		rig_channel(&r, RIG_BPS(1000));
		flow = limited_flow(&r, rig_group_range(&r, 0, 1), RIG_BPS(100));
		rig_start(&r);
		rig_feed(&r, flow,
			 (struct rig_source){.kind = kinds[k],
					     .smallest = 64,
					     .largest = 1518,
					     .rate = RIG_BPS(80)});
		rig_run(&r, RIG_S);
		assert_true(r.inside < 10);
		assert_int_equal(r.flows[flow].verdicts[SCHEDULER_QUEUED], r.flows[flow].serial);
		scheduler_report_delay(r.s, 0, &delays);
		assert_true(scheduler_delay_quantile(&delays, 990) < RIG_MS);
		rig_end(&r);
	}
}

static void aggregate_of_a_modem(void **state) {
	struct rig r = rig_make();
	const struct scheduler_limit limit = rig_limit(RIG_BPS(300));
	uint32_t modem = rig_modem(&r, limit.rate, limit.burst);

	(void)state;
	rig_channel(&r, RIG_OFDM);
	rig_channel(&r, RIG_OFDM);
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 1);
	for (uint32_t i = 0; i < 6; i++)
		rig_flow(&r, (struct scheduler_flow){
				     .group = i % 2, .modem = modem, .priority = (uint8_t)(i / 3)});
	rig_start(&r);
	for (uint32_t i = 0; i < 6; i++)
		rig_feed_always(&r, i, 64, 1518);
	measure_second(&r);
	rig_expect("modem", 0, rig_rate_sum(&r, 0, 6), 300e6, EXACT);
	rig_end(&r);
}

/* Flows in the modem's limit keep theirs: 20 + 50 Mbps of 100, and the third has the rest. */
static void flows_within_an_aggregate(void **state) {
	struct rig r = rig_make();
	const struct scheduler_limit limit = rig_limit(RIG_BPS(100));
	uint32_t modem = rig_modem(&r, limit.rate, limit.burst);

	(void)state;
	rig_channel(&r, RIG_OFDM);
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){
			     .modem = modem, .priority = 2, .sustained = rig_limit(RIG_BPS(20))});
	rig_flow(&r, (struct scheduler_flow){
			     .modem = modem, .priority = 1, .sustained = rig_limit(RIG_BPS(50))});
	rig_flow(&r, (struct scheduler_flow){.modem = modem});
	rig_start(&r);
	for (uint32_t i = 0; i < 3; i++)
		rig_feed_always(&r, i, 64, 1518);
	measure_second(&r);
	rig_expect("flow", 0, rig_rate(&r, 0), 20e6, EXACT);
	rig_expect("flow", 1, rig_rate(&r, 1), 50e6, EXACT);
	rig_expect("flow", 2, rig_rate(&r, 2), 30e6, 2 * EXACT);
	rig_end(&r);
}

/* A large burst goes at the peak rate, and what comes behind it at the sustained. */
static void peak_and_then_sustained(void **state) {
	struct rig r = rig_make();
	const uint64_t burst = 5000000; /* 400 ms at the difference of the rates */

	(void)state;
	rig_channel(&r, RIG_OFDM);
	rig_group_range(&r, 0, 1);
	rig_flow(&r,
		 (struct scheduler_flow){.sustained = {RIG_BPS(100), burst}, .peak = RIG_BPS(200)});
	rig_start(&r);
	rig_feed_always(&r, 0, 64, 1518);
	rig_run(&r, 10 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, 380 * RIG_MS);
	rig_expect("peak of flow", 0, rig_rate(&r, 0), 200e6, EXACT);
	rig_run(&r, 20 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, RIG_S);
	rig_expect("flow", 0, rig_rate(&r, 0), 100e6, EXACT);
	rig_end(&r);
}

/* A peak without a sustained rate is a rate, too. */
static void peak_alone(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_OFDM);
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.peak = RIG_BPS(50)});
	rig_start(&r);
	rig_feed_always(&r, 0, 64, 1518);
	measure_second(&r);
	rig_expect("flow", 0, rig_rate(&r, 0), 50e6, EXACT);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rate_alone),
		cmocka_unit_test(small_packets_and_odd_rates),
		cmocka_unit_test(whenever_the_clock_is_read),
		cmocka_unit_test(mix_of_rates),
		cmocka_unit_test(less_than_the_rate_passes),
		cmocka_unit_test(aggregate_of_a_modem),
		cmocka_unit_test(flows_within_an_aggregate),
		cmocka_unit_test(peak_and_then_sustained),
		cmocka_unit_test(peak_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
