/* SPDX-License-Identifier: BSD-3-Clause */
/* DOCSIS time follows a system's clock that is not as fast as the worker's, and steps. */
#include "test_main.h"

#include <rte_common.h>

#include "model/grants_times.h"
#include "pipeline/docsis_clock.h"

#define NOW UINT64_C(5000000000) /* of the worker */
#define SYSTEM UINT64_C(1795000000000000000) /* in 2026 */
#define US_SAMPLES 205

/* As docsis_clock_start() leaves it. */
static void started(struct docsis_clock *c) {
	docsis_clock_init(c);
	c->from = c->learned_from = NOW;
	c->system = c->learned_system = SYSTEM;
	c->look_at = NOW + DOCSIS_CLOCK_LOOK_NS;
}

static uint64_t samples(uint64_t ns) {
	return ns / 625 * 128 + ns % 625 * 128 / 625;
}

/* 625 ns are 128 samples; rounded so that a time that is over is over on both sides. */
TEST(samples_and_back) {
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

TEST(the_workers_own_time) {
	struct docsis_clock c;

	docsis_clock_init(&c);
	assert_false(docsis_clock_must_look(&c, UINT64_MAX - 1));
	assert_int_equal(docsis_clock_time(&c, 6250), 1280);
	assert_int_equal(docsis_clock_when(&c, 1280), 6250);
	assert_int_equal(docsis_clock_when(&c, 1), 5); /* rounded up */
	assert_int_equal(docsis_clock_time(&c, 4), 0); /* and down */
}

/* A system's clock that is faster by so many millionths: after a minute nothing of it is seen, and on the way there time
 * neither jumps nor goes back. */
static void follow(double millionths) {
	uint64_t last = 0, worst = 0;
	struct docsis_clock c;

	started(&c);
	for (unsigned i = 1; i <= 3000; i++) {
		uint64_t since = i * (uint64_t)DOCSIS_CLOCK_LOOK_NS, now = NOW + since;
		uint64_t system =
			SYSTEM + since + (uint64_t)(int64_t)((double)since * millionths * 1e-6);
		uint64_t time = docsis_clock_time(&c, now), right = samples(system);

		assert_true(docsis_clock_must_look(&c, now));
		assert_true(time > last);
		assert_false(docsis_clock_follow(&c, now, system));
		assert_in_range(docsis_clock_time(&c, now), time - 1, time + 1);
		last = time;
		if (i > 600)
			worst = RTE_MAX(worst, time > right ? time - right : right - time);
	}
	assert_true(worst < 10 * US_SAMPLES);
	assert_int_equal(c.jumps, 0);
}

TEST(rates_are_learnt) {
	static const double millionths[] = {0, 30, -30, 1500, -1500, 5000, -5000};

	for (size_t i = 0; i < RTE_DIM(millionths); i++)
		follow(millionths[i]);
}

/* 0.5 ms behind: made good by 100 ppm, which takes five seconds. */
TEST(small_steps_are_made_good_slowly) {
	uint64_t now = NOW + 100000000000, before, after;
	struct docsis_clock c;

	started(&c);
	assert_false(docsis_clock_follow(&c, now, SYSTEM + 100000000000));
	assert_false(docsis_clock_follow(&c, now + 1000, SYSTEM + 100000500000));
	before = docsis_clock_time(&c, now + 1000);
	after = docsis_clock_time(&c, now + 1000000000 + 1000);
	assert_in_range(after - before, 204800000 * 1.00009, 204800000 * 1.00012);
}

TEST(jumps_are_followed_at_once) {
	static const int64_t steps[] = {3600000000000, -3600000000000, 1100000, -1100000};

	for (size_t i = 0; i < RTE_DIM(steps); i++) {
		uint64_t now = NOW + DOCSIS_CLOCK_LOOK_NS;
		uint64_t system = SYSTEM + DOCSIS_CLOCK_LOOK_NS + (uint64_t)steps[i];
		struct docsis_clock c;

		started(&c);
		assert_true(docsis_clock_follow(&c, now, system));
		assert_int_equal(c.jumps, 1);
		assert_int_equal(docsis_clock_time(&c, now), samples(system));
		assert_false(docsis_clock_follow(&c, now + 1000000, system + 1000000));
		assert_int_equal(c.jumps, 1);
	}
}

/* When it is a time is not before it is. */
TEST(the_way_back) {
	struct docsis_clock c;

	started(&c);
	docsis_clock_follow(&c, NOW + DOCSIS_CLOCK_LOOK_NS, SYSTEM + DOCSIS_CLOCK_LOOK_NS + 150000);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = docsis_clock_time(&c, NOW + DOCSIS_CLOCK_LOOK_NS) + i * 12345;
		uint64_t when = docsis_clock_when(&c, at);

		assert_in_range(docsis_clock_time(&c, when), at, at + 2);
	}
	assert_int_equal(docsis_clock_when(&c, 1000), 0); /* long ago */
}
