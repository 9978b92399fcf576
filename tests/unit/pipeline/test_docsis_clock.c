/* SPDX-License-Identifier: BSD-3-Clause */
/* DOCSIS time: samples of ns both ways, and a system's clock that is followed slowly or jumps. */
#include "test.h"

#include "model/grants/grants_times.h"
#include "pipeline/docsis_clock.h"

#define SECOND UINT64_C(1000000000)
#define SINCE_1970 (UINT64_C(1700000000) * SECOND)

/* 625 ns are 128 samples; rounded so that a time that is over is over on both sides. */
static void samples_and_back(void **state) {
	(void)state;
	assert_int_equal(grants_samples(0), 0);
	assert_int_equal(grants_samples(624), 127);
	assert_int_equal(grants_samples(625), 128);
	assert_int_equal(grants_samples(SECOND), GRANTS_HZ);
	assert_int_equal(grants_samples(SINCE_1970), UINT64_C(1700000000) * GRANTS_HZ);
	assert_int_equal(grants_ns(GRANTS_TICK), 6250);
	for (uint64_t s = 0; s < 3000; s++) {
		uint64_t ns = grants_ns(s);

		assert_true(grants_samples(ns) >= s);
		assert_true(ns == 0 || grants_samples(ns - 1) < s);
	}
}

static void stands_on_the_workers_clock(void **state) {
	struct docsis_clock c;

	(void)state;
	docsis_clock_init(&c);
	assert_false(docsis_clock_must_look(&c, UINT64_MAX - 1));
	assert_int_equal(docsis_clock_time(&c, 6250), GRANTS_TICK);
	assert_int_equal(docsis_clock_when(&c, GRANTS_TICK), 6250);
}

static struct docsis_clock started(uint64_t now) {
	struct docsis_clock c = {.ahead = SINCE_1970, .look_at = now + DOCSIS_CLOCK_LOOK_NS};

	return c;
}

/* At most 100 ppm of what has passed. */
static void follows_slowly(void **state) {
	const int64_t most = (2 * DOCSIS_CLOCK_LOOK_NS) / DOCSIS_CLOCK_SLEW;
	struct docsis_clock c;
	uint64_t now = 2 * DOCSIS_CLOCK_LOOK_NS;

	(void)state;
	for (int64_t off = -500000; off <= 500000; off += 1000) {
		int64_t wanted = off > most ? most : off < -most ? -most : off;

		c = started(0);
		assert_true(docsis_clock_must_look(&c, now));
		assert_false(docsis_clock_follow(&c, now, now + SINCE_1970 + (uint64_t)off));
		assert_int_equal(c.ahead, SINCE_1970 + (uint64_t)wanted);
		assert_false(docsis_clock_must_look(&c, now));
		assert_true(docsis_clock_must_look(&c, now + DOCSIS_CLOCK_LOOK_NS));
		assert_int_equal(c.jumps, 0);
	}
}

static void jumps_are_taken_over(void **state) {
	struct docsis_clock c = started(0);
	uint64_t now = DOCSIS_CLOCK_LOOK_NS, there = now + SINCE_1970;

	(void)state;
	assert_true(docsis_clock_follow(&c, now, there + 2 * DOCSIS_CLOCK_JUMP_NS));
	assert_int_equal(c.ahead, SINCE_1970 + 2 * DOCSIS_CLOCK_JUMP_NS);
	assert_true(docsis_clock_follow(&c, now, there - 5 * SECOND));
	assert_int_equal(c.ahead, SINCE_1970 - 5 * SECOND);
	assert_false(docsis_clock_follow(&c, now, there - 5 * SECOND));
	assert_int_equal(c.jumps, 2);
	/* what was before the worker began is due at once */
	assert_int_equal(docsis_clock_when(&c, 1), 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_and_back),
		cmocka_unit_test(stands_on_the_workers_clock),
		cmocka_unit_test(follows_slowly),
		cmocka_unit_test(jumps_are_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
