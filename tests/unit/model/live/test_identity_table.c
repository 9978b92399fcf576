/* SPDX-License-Identifier: BSD-3-Clause */
/* Small tables, so full that chains go round their ends, against a list. */
#include "random.h"
#include "test.h"

#include <string.h>

#include "model/live/identity_table.h"

#define MOST 12
#define KEYS 30 /* of which MOST at a time are in the table */

static void lockstep(uint32_t words, uint32_t most, uint64_t seed) {
	struct arena *arena = arena_new();
	struct random r = {seed};
	struct identity_table t;
	uint32_t places[KEYS], count = 0;

	assert_true(identity_table_new(&t, arena, most, words));
	memset(places, 0xff, sizeof(places));
	for (unsigned n = 0; n < 20000; n++) {
		uint32_t k = random_below(&r, KEYS);
		const uint64_t key[2] = {words == 2 ? k / 2 : k + 1, 1 + k % 2};
		uint32_t *place = identity_table_find(&t, key);

		if (places[k] == IDENTITY_NONE) {
			assert_null(place);
			if (count == most)
				continue;
			places[k] = n;
			count++;
			identity_table_add(&t, key, n);
		} else {
			assert_non_null(place);
			assert_int_equal(*place, places[k]);
			places[k] = IDENTITY_NONE;
			count--;
			identity_table_remove(&t, place);
		}
	}
	for (uint32_t i = 0, used = 0; i < t.size; i++) {
		used += t.keys[i * words] != 0 || t.keys[i * words + words - 1] != 0;
		assert_true(used <= count);
	}
	arena_free(arena);
}

static void what_was_put_is_found(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		lockstep(1, MOST, seed);
		lockstep(2, MOST, seed);
		lockstep(1, 1, seed);
	}
}

static void an_empty_table(void **state) {
	struct arena *arena = arena_new();
	struct identity_table t;
	const uint64_t key[2] = {1, 1};

	(void)state;
	assert_true(identity_table_new(&t, arena, 0, 2));
	assert_null(identity_table_find(&t, key));
	arena_free(arena);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found),
		cmocka_unit_test(an_empty_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
