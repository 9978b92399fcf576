/* SPDX-License-Identifier: BSD-3-Clause */
/* How busy a core was between two questions. */
#include "test_main.h"

#include "telemetry/busyness.h"

#define WINDOW 1000

static struct busyness core;

static int ask(uint64_t busy, uint64_t total, uint64_t tsc) {
	return busyness_of(&core, (struct busyness_reading){busy, total, tsc}, WINDOW);
}

static int begin(void **state) {
	core = (struct busyness){0};
	return 0;
}

TEST(the_first_is_since_the_start) {
	assert_int_equal(ask(1234, 10000, 20000), 12);
}

TEST(later_ones_are_since_the_last) {
	ask(0, 10000, 10000);
	assert_int_equal(ask(1000, 11000, 11000), 100);
	assert_int_equal(ask(1000, 13000, 13000), 0);
	assert_int_equal(ask(1505, 14010, 14010), 50);
	assert_int_equal(ask(1510, 15010, 15010), 1); /* rounded: 0.5 */
	assert_int_equal(ask(1514, 16010, 16010), 0); /* 0.4 */
}

/* Who asks more often than that gets the share of a window at least, and disturbs nobody. */
TEST(never_of_less_than_a_window) {
	ask(0, 10000, 10000);
	ask(0, 11000, 11000); /* idle; from here on busy */
	for (uint64_t passed = 1; passed < WINDOW; passed += 7)
		assert_int_equal(ask(passed, 11000 + passed, 11000 + passed),
				 (passed * 100 + (1000 + passed) / 2) / (1000 + passed));
	assert_int_equal(ask(WINDOW, 11000 + WINDOW, 11000 + WINDOW), 100);
}

TEST(one_that_stands_still_is_not_known) {
	assert_int_equal(ask(0, 0, 5), BUSYNESS_UNKNOWN);
	ask(500, 10000, 10000);
	ask(900, 20000, 20000);
	assert_int_equal(ask(900, 20000, 40000), BUSYNESS_UNKNOWN);
	assert_int_equal(ask(901, 20002, 50000), 50);
}

/* The two numbers are read one behind the other, while the worker goes on. */
TEST(never_more_than_all) {
	ask(0, 10000, 10000);
	assert_int_equal(ask(2010, 12000, 12000), 100);
}

EACH_TEST(begin, NULL)
