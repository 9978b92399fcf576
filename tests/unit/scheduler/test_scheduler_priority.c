/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: traffic priorities, weights inside a modem, and the delays that come of them. */
#include "test.h"

#include "scheduler_rig.h"

#define EXACT 0.005
#define STARVE_BYTES 262144 /* of a cluster, then one lower packet goes */
#define PACKET 1500
#define LOWER_PART ((double)PACKET / (STARVE_BYTES + PACKET))

static uint32_t flow_of(struct rig *r, uint32_t group, uint32_t modem, unsigned priority,
			unsigned weight) {
	return rig_flow(r, (struct scheduler_flow){.group = group,
						   .modem = modem,
						   .priority = (uint8_t)priority,
						   .weight = (uint8_t)weight});
}

static void measure_second(struct rig *r) {
	rig_run(r, 200 * RIG_MS); /* the bursts are gone */
	rig_mark(r);
	rig_run(r, RIG_S);
}

/* 20 Mbps each of 110: 7 to 3 get theirs, 2 what is left, below it only what keeps it alive. */
static void higher_priorities_go_first(void **state) {
	struct rig r = rig_make();
	double low, left;

	(void)state;
	rig_channel(&r, RIG_BPS(110));
	rig_group_range(&r, 0, 1);
	for (uint32_t p = 0; p < 8; p++)
		rig_flow(&r, (struct scheduler_flow){.modem = rig_modem(&r, 0, 0),
						     .priority = (uint8_t)p,
						     .sustained = rig_limit(RIG_BPS(20))});
	rig_start(&r);
	for (uint32_t p = 0; p < 8; p++)
		rig_feed_always(&r, p, PACKET, PACKET);
	measure_second(&r);
	for (uint32_t p = 3; p < 8; p++)
		rig_expect("priority", p, rig_rate(&r, p), 20e6, EXACT);
	low = rig_rate_sum(&r, 0, 2);
	left = rig_rate_sum(&r, 2, 1);
	rig_expect("priorities", 1, low + left, 10e6, 2 * EXACT);
	if (low > 110e6 * LOWER_PART * 1.05)
		fail_msg("priorities 0 and 1 get %.0f bps", low);
	assert_true(r.flows[0].packets > 0 && r.flows[1].packets > 0);
	rig_end(&r);
}

/* All columns but the highest together get their half percent, in rotation. */
static void lower_priorities_do_not_starve(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(1000));
	rig_group_range(&r, 0, 1);
	for (uint32_t p = 0; p < 8; p++)
		flow_of(&r, 0, rig_modem(&r, 0, 0), p, 1);
	rig_start(&r);
	for (uint32_t i = 0; i < 8; i++)
		rig_feed_always(&r, i, PACKET, PACKET);
	measure_second(&r);
	rig_expect("part of lower priorities in", 1000000,
		   rig_rate_sum(&r, 0, 7) / rig_rate_sum(&r, 0, 8) * 1e6, LOWER_PART * 1e6, 0.05);
	for (uint32_t i = 0; i < 7; i++)
		rig_expect("packets of priority", i, (double)r.flows[i].packets,
			   (double)r.flows[6].packets, 0.05);
	rig_end(&r);
}

/* Nobody is left out where groups share channels, whatever their columns. */
static void nobody_starves_across_groups(void **state) {
	struct rig r = rig_make();
	double low;

	(void)state;
	rig_channel(&r, RIG_BPS(1000));
	rig_channel(&r, RIG_BPS(1000));
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 1);
	for (uint32_t p = 0; p < 8; p++)
		flow_of(&r, p % 2, rig_modem(&r, 0, 0), p, 1);
	flow_of(&r, 0, rig_modem(&r, 0, 0), 7, 1);
	rig_start(&r);
	for (uint32_t i = 0; i < 9; i++)
		rig_feed_always(&r, i, PACKET, PACKET);
	measure_second(&r);
	low = rig_rate_sum(&r, 0, 7);
	rig_expect("part of lower priorities in", 1000000, low / 2e9 * 1e6, LOWER_PART * 1e6, 0.1);
	for (uint32_t i = 0; i < 7; i++) {
		if (rig_rate_sum(&r, i, 1) < low / 7 / 20)
			fail_msg("priority %u gets %.0f of %.0f bps", i, rig_rate_sum(&r, i, 1),
				 low);
	}
	rig_end(&r);
}

/* A packet of priority 7 waits for the channel alone, not for the 16 MB below it. */
static void high_priority_waits_for_no_queue(void **state) {
	struct scheduler_delay_report delays;
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	flow_of(&r, 0, rig_modem(&r, 0, 0), 7, 1);
	flow_of(&r, 0, rig_modem(&r, 0, 0), 3, 1);
	rig_start(&r);
	rig_feed_always(&r, 1, PACKET, PACKET);
	rig_feed(&r, 0,
		 (struct rig_source){
			 .kind = RIG_STEADY, .smallest = 200, .largest = 200, .rate = RIG_BPS(5)});
	rig_run(&r, RIG_S);
	scheduler_report_delay(r.s, 7, &delays);
	/* a packet of 120 us, one of the starving, two steps of the clock, an eighth of a bucket */
	assert_true(delays.packets > 3000);
	assert_true(scheduler_delay_quantile(&delays, 1000) <=
		    2 * 120000 * 9 / 8 + 2 * RIG_STEP_NS);
	rig_end(&r);
}

/* Across groups, too: the column decides, then who is behind. */
static void priority_across_groups(void **state) {
	struct rig r = rig_make();

	(void)state;
	for (int i = 0; i < 3; i++)
		rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 2);
	rig_group_range(&r, 1, 2);
	flow_of(&r, 0, rig_modem(&r, 0, 0), 2, 1);
	flow_of(&r, 1, rig_modem(&r, 0, 0), 5, 1);
	rig_start(&r);
	for (uint32_t i = 0; i < 2; i++)
		rig_feed_always(&r, i, PACKET, PACKET);
	measure_second(&r);
	/* the shared channel goes to priority 5; the half percent is taken of all three */
	rig_expect("priority", 5, rig_rate_sum(&r, 1, 1), 200e6, 0.02);
	rig_expect("priority", 2, rig_rate_sum(&r, 0, 1), 100e6, 0.04);
	rig_end(&r);
}

static void expect_weights(const uint32_t sizes[3][2]) {
	struct rig r = rig_make();
	uint32_t modem = rig_modem(&r, 0, 0);

	rig_channel(&r, RIG_BPS(160));
	rig_group_range(&r, 0, 1);
	flow_of(&r, 0, modem, 1, 1);
	flow_of(&r, 0, modem, 1, 2);
	flow_of(&r, 0, modem, 1, 5);
	rig_start(&r);
	for (uint32_t i = 0; i < 3; i++)
		rig_feed_always(&r, i, sizes[i][0], sizes[i][1]);
	measure_second(&r);
	rig_expect("weight", 1, rig_rate_sum(&r, 0, 1), 20e6, 0.01);
	rig_expect("weight", 2, rig_rate_sum(&r, 1, 1), 40e6, 0.01);
	rig_expect("weight", 5, rig_rate_sum(&r, 2, 1), 100e6, 0.01);
	rig_end(&r);
}

static void weights_inside_a_modem(void **state) {
	static const uint32_t sizes[][3][2] = {
		{{1518, 1518}, {1518, 1518}, {1518, 1518}},
		{{64, 64}, {1518, 1518}, {512, 512}},
		{{1518, 1518}, {64, 1518}, {300, 400}},
		{{4000, 9000}, {2049, 2049}, {64, 2017}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++)
		expect_weights(sizes[i]);
}

/* Weights count inside a modem only: between modems turns are equal. */
static void weights_do_not_leave_the_modem(void **state) {
	struct rig r = rig_make();
	uint32_t a = rig_modem(&r, 0, 0), b = rig_modem(&r, 0, 0);

	(void)state;
	rig_channel(&r, RIG_BPS(200));
	rig_group_range(&r, 0, 1);
	flow_of(&r, 0, a, 0, 1);
	flow_of(&r, 0, b, 0, 255);
	flow_of(&r, 0, b, 0, 85);
	rig_start(&r);
	for (uint32_t i = 0; i < 3; i++)
		rig_feed_always(&r, i, 64, 1518);
	rig_run(&r, 200 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, 2 * RIG_S);
	rig_expect("modem", 0, rig_rate_sum(&r, 0, 1), 100e6, 0.01);
	rig_expect("flow", 1, rig_rate_sum(&r, 1, 1), 75e6, 0.04);
	rig_expect("flow", 2, rig_rate_sum(&r, 2, 1), 25e6, 0.1);
	rig_end(&r);
}

/* What a flow may not use goes to the others by their weights: 10 of 1:1:3 leave 90 for 1:3. */
static void unused_share_goes_by_weight(void **state) {
	struct rig r = rig_make();
	uint32_t modem = rig_modem(&r, 0, 0);

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .sustained = rig_limit(RIG_BPS(10))});
	flow_of(&r, 0, modem, 0, 1);
	flow_of(&r, 0, modem, 0, 3);
	rig_start(&r);
	for (uint32_t i = 0; i < 3; i++)
		rig_feed_always(&r, i, 64, 1518);
	measure_second(&r);
	rig_expect("flow", 0, rig_rate(&r, 0), 10e6, EXACT);
	rig_expect("flow", 1, rig_rate_sum(&r, 1, 1), 22.5e6, 0.01);
	rig_expect("flow", 2, rig_rate_sum(&r, 2, 1), 67.5e6, 0.01);
	rig_end(&r);
}

/*
 * The reported delays against the rig's own, bucket by bucket. Times are kept in units of about a
 * microsecond: a packet may stand in the bucket before or behind its own.
 */
static void expect_same_delays(const struct rig *r, unsigned priority) {
	const struct rig_delays *own = &r->delays[priority];
	struct scheduler_delay_report report;
	uint64_t sum = 0, before = 0;

	scheduler_report_delay(r->s, priority, &report);
	assert_int_equal(report.packets, own->packets);
	rig_expect("delays of priority", priority, (double)report.sum_ns, (double)own->sum_ns,
		   0.001 + 1024 * (double)own->packets / (double)own->sum_ns);
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		uint64_t behind = before + own->buckets[b];

		if (b + 1 < SCHEDULER_DELAY_BUCKETS)
			behind += own->buckets[b + 1];
		sum += report.buckets[b];
		if (sum < before || sum > behind)
			fail_msg("priority %u: %llu packets up to bucket %u, not %llu to %llu",
				 priority, (unsigned long long)sum, b, (unsigned long long)before,
				 (unsigned long long)behind);
		before += own->buckets[b];
	}
	assert_int_equal(sum, own->packets);
}

static void delays_as_they_were(void **state) {
	struct scheduler_delay_report low, high;
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_channel(&r, RIG_BPS(40));
	rig_group_range(&r, 0, 2);
	for (uint32_t i = 0; i < 8; i++)
		flow_of(&r, 0, rig_modem(&r, 0, 0), i, 1);
	r.irregular = true;
	r.follow_delays = true;
	rig_start(&r);
	for (uint32_t i = 0; i < 8; i++)
		rig_feed(&r, i,
			 (struct rig_source){.kind = i % 2 > 0 ? RIG_POISSON : RIG_ON_OFF,
					     .smallest = 64,
					     .largest = 1518,
					     .rate = RIG_BPS(10 + 12 * (i % 2) + 16),
					     .on_ns = 10 * RIG_MS,
					     .off_ns = 12 * RIG_MS});
	rig_run(&r, 2 * RIG_S);
	for (unsigned p = 0; p < SCHEDULER_PRIORITIES; p++)
		expect_same_delays(&r, p);
	scheduler_report_delay(r.s, 0, &low);
	scheduler_report_delay(r.s, 7, &high);
	assert_true(scheduler_delay_quantile(&low, 500) > scheduler_delay_quantile(&high, 500));
	rig_end(&r);
}

static void delay_buckets_are_narrow(void **state) {
	(void)state;
	assert_int_equal(scheduler_delay_floor(0), 0);
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		uint64_t floor = scheduler_delay_floor(b);
		uint64_t width = scheduler_delay_floor(b + 1) - floor;

		assert_true(width >= 1024);
		assert_true(width == 1024 || width <= floor / 8);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(higher_priorities_go_first),
		cmocka_unit_test(lower_priorities_do_not_starve),
		cmocka_unit_test(nobody_starves_across_groups),
		cmocka_unit_test(high_priority_waits_for_no_queue),
		cmocka_unit_test(priority_across_groups),
		cmocka_unit_test(weights_inside_a_modem),
		cmocka_unit_test(weights_do_not_leave_the_modem),
		cmocka_unit_test(unused_share_goes_by_weight),
		cmocka_unit_test(delays_as_they_were),
		cmocka_unit_test(delay_buckets_are_narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
