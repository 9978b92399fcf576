/* SPDX-License-Identifier: BSD-3-Clause */
/* How busy a core was between two questions. */
#include "test_main.h"

#include "telemetry/busyness.h"

#define WINDOW 1000

static struct busyness core;

static int ask(uint64_t busy, uint64_t total, uint64_t tsc) {
	return busyness_of(&core, (struct busyness_reading){busy, total, tsc}, WINDOW);
}

TEST(shares_of_the_time) {
	static const struct {
		uint64_t busy, total, tsc;
		int percent;
	} cases[][6] = {
		{{1234, 10000, 20000, 12}}, /* the first is since the start */
		{{0, 10000, 10000, 0},
		 {1000, 11000, 11000, 100}, /* later ones since the last */
		 {1000, 13000, 13000, 0},
		 {1505, 14010, 14010, 50},
		 {1510, 15010, 15010, 1}, /* rounded: 0.5 */
		 {1514, 16010, 16010, 0}}, /* 0.4 */
		{{0, 0, 5, BUSYNESS_UNKNOWN}},
		{{500, 10000, 10000, 5},
		 {900, 20000, 20000, 4},
		 {900, 20000, 40000, BUSYNESS_UNKNOWN}, /* it stands still */
		 {901, 20002, 50000, 50}},
		/* the two numbers are read one behind the other, while the worker goes on */
		{{0, 10000, 10000, 0}, {2010, 12000, 12000, 100}},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		core = (struct busyness){0};
		for (unsigned n = 0; n < 6 && cases[i][n].tsc > 0; n++)
			assert_int_equal(ask(cases[i][n].busy, cases[i][n].total, cases[i][n].tsc),
					 cases[i][n].percent);
	}
}

/* Who asks more often than that gets the share of a window at least, and disturbs nobody. */
TEST(never_of_less_than_a_window) {
	core = (struct busyness){0};
	ask(0, 10000, 10000);
	ask(0, 11000, 11000); /* idle; from here on busy */
	for (uint64_t passed = 1; passed < WINDOW; passed += 7)
		assert_int_equal(ask(passed, 11000 + passed, 11000 + passed),
				 (passed * 100 + (1000 + passed) / 2) / (1000 + passed));
	assert_int_equal(ask(WINDOW, 11000 + WINDOW, 11000 + WINDOW), 100);
}
