/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: what may go at once. That nothing goes beyond it, in any interval, is judged by the
 * rig at every grant; here flows try, and it is shown that they get all of it.
 */
#include "test.h"

#include "scheduler_rig.h"

#define LONGEST 400

/* The whole burst is there after a rest, and neither more nor (but for a packet) less. */
static void expect_used(const char *what, size_t index, const struct rig_envelope *e) {
	if (e->worst < e->burst - LONGEST)
		fail_msg("%s %zu: a burst of %.0f where %.0f may be", what, index, e->worst,
			 e->burst);
}

static void full_burst_after_a_rest(void **state) {
	static const uint64_t bursts[] = {1518, 3044, 20000, 125000, 1000000};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(bursts); i++) {
		struct rig r = rig_make();

		rig_channel(&r, RIG_BPS(10000));
		rig_group_range(&r, 0, 1);
		rig_flow(&r, (struct scheduler_flow){.sustained = {RIG_BPS(100), bursts[i]}});
		rig_start(&r);
		rig_feed(&r, 0,
			 (struct rig_source){.kind = RIG_ON_OFF,
					     .smallest = 64,
					     .largest = LONGEST,
					     .rate = RIG_BPS(5000),
					     .on_ns = 4 * RIG_MS,
					     .off_ns = 400 * RIG_MS});
		rig_run(&r, RIG_S);
		expect_used("burst", bursts[i], &r.flows[0].sustained);
		rig_end(&r);
	}
}

static void full_burst_of_a_modem(void **state) {
	struct rig r = rig_make();
	uint32_t modem = rig_modem(&r, RIG_BPS(50), 60000);

	(void)state;
	rig_channel(&r, RIG_BPS(10000));
	rig_group_range(&r, 0, 1);
	for (int i = 0; i < 4; i++)
		rig_flow(&r, (struct scheduler_flow){.modem = modem, .priority = (uint8_t)i});
	rig_start(&r);
	for (uint32_t i = 0; i < 4; i++)
		rig_feed(&r, i,
			 (struct rig_source){.kind = RIG_ON_OFF,
					     .smallest = 64,
					     .largest = LONGEST,
					     .rate = RIG_BPS(100 + 50 * i),
					     .on_ns = 3 * RIG_MS,
					     .off_ns = 70 * RIG_MS});
	rig_run(&r, RIG_S);
	expect_used("modem", modem, &r.modems[modem]);
	rig_end(&r);
}

/* Behind the peak rate stands a bucket of SCHEDULER_PEAK_BURST or SCHEDULER_PEAK_NS, whatever the burst. */
static void bucket_of_the_peak_rate(void **state) {
	static const uint64_t mbps[] = {20, 150, 1000, 4000};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(mbps); i++) {
		struct rig r = rig_make();

		rig_channel(&r, RIG_BPS(10000));
		rig_group_range(&r, 0, 1);
		rig_flow(&r, (struct scheduler_flow){.sustained = {RIG_BPS(10), 200000},
						     .peak = RIG_BPS(mbps[i])});
		rig_start(&r);
		rig_feed(&r, 0,
			 (struct rig_source){.kind = RIG_ON_OFF,
					     .smallest = 64,
					     .largest = LONGEST,
					     .rate = RIG_BPS(9000),
					     .on_ns = RIG_MS / 2,
					     .off_ns = 200 * RIG_MS});
		rig_run(&r, RIG_S);
		expect_used("peak of Mbps", mbps[i], &r.flows[0].peak);
		rig_end(&r);
	}
}

/* Packets up to the burst go, longer ones are refused when they come, not kept forever. */
static void longest_packet_of_a_bucket(void **state) {
	struct rig r = rig_make();
	uint32_t small_modem = rig_modem(&r, RIG_BPS(10), 1000), modem = rig_modem(&r, 0, 0);

	(void)state;
	rig_channel(&r, RIG_BPS(10000));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .sustained = {RIG_BPS(10), 1600}});
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .peak = RIG_BPS(10)});
	rig_flow(&r, (struct scheduler_flow){.modem = modem, .peak = RIG_BPS(400)});
	rig_flow(&r, (struct scheduler_flow){.modem = small_modem});
	rig_flow(&r, (struct scheduler_flow){.modem = modem});
	rig_start(&r);

	static const uint32_t longest[] = {
		1600, SCHEDULER_PEAK_BURST, RIG_BPS(400) / 8 * SCHEDULER_PEAK_NS / RIG_S,
		1000, SCHEDULER_PACKET_MAX,
	};

	for (uint32_t i = 0; i < ARRAY_COUNT(longest); i++) {
		assert_int_equal(rig_put(&r, i, longest[i] + 1), SCHEDULER_TOO_LONG);
		for (int k = 0; k < 3; k++)
			assert_int_equal(rig_put(&r, i, longest[i]), SCHEDULER_QUEUED);
	}
	rig_run(&r, 20 * RIG_MS);
	assert_int_equal(r.inside, 0);
	rig_end(&r);
}

static struct rig_source any_source(struct random *random) {
	struct rig_source s = {
		.kind = RIG_BACKLOGGED + random_below(random, 4),
		.smallest = random_between(random, 1, 800),
		.largest = random_between(random, 800, 2000),
		.rate = RIG_BPS(random_between(random, 5, 400)),
		.on_ns = random_between(random, 1, 4000) * UINT64_C(1000),
		.off_ns = random_between(random, 1, 20000) * UINT64_C(1000),
	};

	return s;
}

static void any_flow(struct rig *r, uint32_t modem) {
	struct scheduler_flow f = {
		.group = random_below(&r->random, 3),
		.modem = modem,
		.priority = (uint8_t)random_below(&r->random, 8),
		.weight = (uint8_t)random_between(&r->random, 1, 255),
		.min_buffer = 30000,
		.buffer = 100000,
		.max_buffer = 1000000,
	};

	f.sustained.rate = random_between(&r->random, 100000, 300000000);
	f.sustained.burst = random_between(&r->random, 2000, 200000);
	if (random_below(&r->random, 2) > 0)
		f.peak = f.sustained.rate + random_below(&r->random, 300000000);
	rig_flow(r, f);
}

/* Whatever flows, sources and steps of the clock: the rig judges. */
static void nothing_goes_beyond_any_bucket(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct rig r = rig_make();

		r.random.state = seed;
		r.irregular = true;
		r.step_ns = random_between(&r.random, 500, 400000);
		for (uint32_t i = 0; i < 3; i++)
			rig_channel(&r, RIG_BPS(random_between(&r.random, 50, 800)));
		rig_group_range(&r, 0, 2);
		rig_group_range(&r, 1, 2);
		rig_group_range(&r, 2, 1);
		for (uint32_t i = 0; i < 4; i++) {
			rig_modem(&r, i < 2 ? random_between(&r.random, 1000000, 200000000) : 0,
				  random_between(&r.random, 2000, 100000));
			for (uint32_t k = 0; k < 4; k++)
				any_flow(&r, i);
		}
		rig_start(&r);
		for (uint32_t i = 0; i < r.config.flow_count; i++)
			rig_feed(&r, i, any_source(&r.random));
		rig_run(&r, 100 * RIG_MS);
		rig_end(&r);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_burst_after_a_rest),
		cmocka_unit_test(full_burst_of_a_modem),
		cmocka_unit_test(bucket_of_the_peak_rate),
		cmocka_unit_test(longest_packet_of_a_bucket),
		cmocka_unit_test(nothing_goes_beyond_any_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
