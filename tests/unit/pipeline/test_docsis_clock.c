/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests docsis_clock.c: ns and samples, and DOCSIS time that follows a system clock with another rate or with steps. */
#include "test_main.h"

#include <rte_common.h>

#include "model/grants_times.h"
#include "pipeline/docsis_clock.h"

#define NOW UINT64_C(5000000000) /* ns; the worker's clock */
#define SYSTEM UINT64_C(1795000000000000000) /* ns since 1970; in 2026 */
#define SAMPLES_PER_US 205

/* Sets the state that docsis_clock_start() would set, at the times above. */
static void start(struct docsis_clock *c) {
	docsis_clock_init(c);
	c->from = c->learned_from = NOW;
	c->system = c->learned_system = SYSTEM;
	c->sample_at = NOW + DOCSIS_CLOCK_SAMPLE_NS;
}

static uint64_t samples(uint64_t ns) {
	return ns / 625 * 128 + ns % 625 * 128 / 625;
}

/* 625 ns are 128 samples. Samples round down and ns round up, so that a past time is past in both units. */
TEST(samples_and_ns_convert_both_ways) {
	assert_int_equal(grants_samples(624), 127);
	assert_int_equal(grants_samples(625), 128);
	assert_int_equal(grants_samples(1000000000), GRANTS_HZ);
	assert_int_equal(grants_samples(SYSTEM), UINT64_C(1795000000) * GRANTS_HZ);
	assert_int_equal(grants_ns(GRANTS_TICK), 6250);
	for (uint64_t s = 0; s < 3000; s++) {
		uint64_t ns = grants_ns(s);

		assert_true(grants_samples(ns) >= s);
		assert_true(ns == 0 || grants_samples(ns - 1) < s);
	}
}

TEST(without_start_time_is_that_of_the_worker) {
	struct docsis_clock c;

	docsis_clock_init(&c);
	assert_false(docsis_clock_sample_is_due(&c, UINT64_MAX - 1));
	assert_int_equal(docsis_clock_time(&c, 6250), 1280);
	assert_int_equal(docsis_clock_when(&c, 1280), 6250);
	assert_int_equal(docsis_clock_when(&c, 1), 5); /* rounds up */
	assert_int_equal(docsis_clock_time(&c, 4), 0); /* rounds down */
}

/* Follows a system clock that is faster by `ppm`: time never goes back, and after a minute its error is below 10 us. */
static void follow(double ppm) {
	uint64_t last = 0, worst = 0;
	struct docsis_clock c;

	start(&c);
	for (unsigned i = 1; i <= 3000; i++) {
		uint64_t elapsed = i * (uint64_t)DOCSIS_CLOCK_SAMPLE_NS, now = NOW + elapsed;
		uint64_t system =
			SYSTEM + elapsed + (uint64_t)(int64_t)((double)elapsed * ppm * 1e-6);
		uint64_t time = docsis_clock_time(&c, now), expected = samples(system);

		assert_true(docsis_clock_sample_is_due(&c, now));
		assert_true(time > last);
		assert_false(docsis_clock_follow(&c, now, system));
		assert_in_range(docsis_clock_time(&c, now), time - 1, time + 1);
		last = time;
		if (i > 600)
			worst = RTE_MAX(worst, time > expected ? time - expected : expected - time);
	}
	assert_true(worst < 10 * SAMPLES_PER_US);
	assert_int_equal(c.jumps, 0);
}

TEST(rate_of_system_clock_is_learned) {
	static const double ppm[] = {0, 30, -30, 1500, -1500, 5000, -5000};

	for (size_t i = 0; i < RTE_DIM(ppm); i++)
		follow(ppm[i]);
}

/* 0.5 ms behind: 100 ppm correct it within five seconds. */
TEST(small_step_is_corrected_at_100_ppm) {
	uint64_t now = NOW + 100000000000, before, after;
	struct docsis_clock c;

	start(&c);
	assert_false(docsis_clock_follow(&c, now, SYSTEM + 100000000000));
	assert_false(docsis_clock_follow(&c, now + 1000, SYSTEM + 100000500000));
	before = docsis_clock_time(&c, now + 1000);
	after = docsis_clock_time(&c, now + 1000000000 + 1000);
	assert_in_range(after - before, 204800000 * 1.00009, 204800000 * 1.00012);
}

TEST(large_step_is_a_jump) {
	static const int64_t steps[] = {3600000000000, -3600000000000, 1100000, -1100000};

	for (size_t i = 0; i < RTE_DIM(steps); i++) {
		uint64_t now = NOW + DOCSIS_CLOCK_SAMPLE_NS;
		uint64_t system = SYSTEM + DOCSIS_CLOCK_SAMPLE_NS + (uint64_t)steps[i];
		struct docsis_clock c;

		start(&c);
		assert_true(docsis_clock_follow(&c, now, system));
		assert_int_equal(c.jumps, 1);
		assert_int_equal(docsis_clock_time(&c, now), samples(system));
		assert_false(docsis_clock_follow(&c, now + 1000000, system + 1000000));
		assert_int_equal(c.jumps, 1);
	}
}

/* At the time that docsis_clock_when() returns, docsis_clock_time() has reached the samples. */
TEST(when_is_inverse_of_time) {
	struct docsis_clock c;

	start(&c);
	docsis_clock_follow(&c, NOW + DOCSIS_CLOCK_SAMPLE_NS,
			    SYSTEM + DOCSIS_CLOCK_SAMPLE_NS + 150000);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = docsis_clock_time(&c, NOW + DOCSIS_CLOCK_SAMPLE_NS) + i * 12345;
		uint64_t when = docsis_clock_when(&c, at);

		assert_in_range(docsis_clock_time(&c, when), at, at + 2);
	}
	assert_int_equal(docsis_clock_when(&c, 1000), 0); /* before the worker's clock began */
}
