/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates divided among service groups, and results put together again. */
#include <inttypes.h>

#include "groups/rates.h"
#include "groups/totals.h"
#include "test_main.h"

#define MOST 8

TEST(rates_are_divided_by_weight) {
	static const struct {
		uint64_t rate;
		unsigned count;
		uint64_t weights[MOST], parts[MOST];
	} rows[] = {
		{4000000000, 1, {123}, {4000000000}},
		{4000000000, 4, {9, 9, 9, 9}, {1000000000, 1000000000, 1000000000, 1000000000}},
		{100, 3, {1, 1, 2}, {25, 25, 50}},
		{100, 3, {5, 0, 5}, {50, 0, 50}},
		{10, 3, {1, 1, 1}, {3, 3, 4}},
		{0, 2, {1, 2}, {0, 0}},
		{1000000000000,
		 2,
		 {1000000000000000000, 3000000000000000000},
		 {250000000000, 750000000000}},
		{6, 2, {0, 0}, {3, 3}},
		/* No rate becomes 0, which means as fast as it goes. */
		{1, 3, {1, 1, 0}, {1, 1, 0}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		uint64_t parts[MOST];

		rates_divide(rows[i].rate, rows[i].weights, rows[i].count, parts);
		assert_memory_equal(parts, rows[i].parts, rows[i].count * sizeof(parts[0]));
	}
}
