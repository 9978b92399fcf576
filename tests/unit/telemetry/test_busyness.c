/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests busyness.c: the share of busy cycles of a core between two queries. */
#include "test_main.h"

#include "telemetry/busyness.h"

#define WINDOW 1000

static struct busyness core;

static int query(uint64_t busy, uint64_t total, uint64_t tsc) {
	return busyness_of(&core, (struct busyness_reading){busy, total, tsc}, WINDOW);
}

TEST(share_covers_the_time_since_the_previous_query) {
	static const struct {
		uint64_t busy, total, tsc;
		int percent;
	} cases[][6] = {
		{{1234, 10000, 20000, 12}}, /* first query: since the start */
		{{0, 10000, 10000, 0},
		 {1000, 11000, 11000, 100}, /* later ones: since the previous query */
		 {1000, 13000, 13000, 0},
		 {1505, 14010, 14010, 50},
		 {1510, 15010, 15010, 1}, /* rounded: 0.5 */
		 {1514, 16010, 16010, 0}}, /* 0.4 */
		{{0, 0, 5, BUSYNESS_UNKNOWN}},
		{{500, 10000, 10000, 5},
		 {900, 20000, 20000, 4},
		 {900, 20000, 40000, BUSYNESS_UNKNOWN}, /* the core makes no rounds */
		 {901, 20002, 50000, 50}},
		/* `busy` is read after `total` while the worker runs, so it may have grown more */
		{{0, 10000, 10000, 0}, {2010, 12000, 12000, 100}},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		core = (struct busyness){0};
		for (unsigned n = 0; n < 6 && cases[i][n].tsc > 0; n++)
			assert_int_equal(
				query(cases[i][n].busy, cases[i][n].total, cases[i][n].tsc),
				cases[i][n].percent);
	}
}

/* More frequent queries return the share of at least one window, and do not move its start. */
TEST(share_covers_at_least_a_window) {
	core = (struct busyness){0};
	query(0, 10000, 10000);
	query(0, 11000, 11000); /* idle until now, then busy */
	for (uint64_t elapsed = 1; elapsed < WINDOW; elapsed += 7)
		assert_int_equal(query(elapsed, 11000 + elapsed, 11000 + elapsed),
				 (elapsed * 100 + (1000 + elapsed) / 2) / (1000 + elapsed));
	assert_int_equal(query(WINDOW, 11000 + WINDOW, 11000 + WINDOW), 100);
}
