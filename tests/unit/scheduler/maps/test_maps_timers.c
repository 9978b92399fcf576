/* SPDX-License-Identifier: BSD-3-Clause */
#include "random.h"
#include "scheduler/maps/bucket.h"
#include "scheduler/maps/timers.h"
#include "test.h"

#define TIMERS 100

static void expire_in_order(void **state) {
	uint64_t at[TIMERS] = {0}; /* 0: it is not set */
	struct random r = {1};
	struct timers t;
	uint64_t now = 1;

	(void)state;
	assert_true(timers_create(&t, TIMERS));
	for (int step = 0; step < 100000; step++) {
		uint32_t i = random_below(&r, TIMERS), first = TIMER_NONE;

		if (random_below(&r, 3)) {
			at[i] = now + random_below(&r, 50) + 1;
			timers_set(&t, i, at[i]);
		} else if (random_below(&r, 2)) {
			at[i] = 0;
			timers_clear(&t, i);
		} else {
			now += random_below(&r, 40);
		}
		for (uint32_t k = 0; k < TIMERS; k++)
			if (at[k] != 0 && at[k] <= now &&
			    (first == TIMER_NONE || at[k] < at[first]))
				first = k;
		assert_int_equal(timers_pop(&t, now), first);
		if (first != TIMER_NONE)
			at[first] = 0;
	}
	timers_free(&t);
}

/* Rates are exact over any time, in any steps. */
static void buckets_lose_nothing(void **state) {
	const uint64_t rates[] = {1, 999, 64000, 1234567, 999999999, MAPS_RATE_MAX};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		struct bucket b = bucket_of(rates[i], MAPS_BURST_MAX, 0);
		struct random r = {i + 1};
		uint64_t now = 0;

		bucket_take(&b, 0, MAPS_BURST_MAX);
		for (int step = 0; step < 1000 && now * rates[i] / BYTE_TOKENS < MAPS_BURST_MAX / 2;
		     step++) {
			now += random_below(&r, 1u << (4 + i));
			bucket_fill(&b, now);
			assert_int_equal(b.tokens, now * rates[i]);
		}
	}
}

static void buckets_are_full_in_time(void **state) {
	struct bucket b = bucket_of(1000, 100, 5);

	(void)state;
	assert_int_equal(bucket_bytes(&b), 100);
	bucket_take(&b, 5, 60);
	assert_int_equal(bucket_bytes(&b), 40);
	assert_int_equal(bucket_when(&b, 41), 5 + MAPS_HZ / 125);
	bucket_fill(&b, bucket_when(&b, 41) - 1);
	assert_int_equal(bucket_bytes(&b), 40);
	bucket_fill(&b, 5 + MAPS_HZ / 125);
	assert_int_equal(bucket_bytes(&b), 41);
	bucket_take(&b, b.at, 1000); /* debts end */
	assert_int_equal(b.tokens, -b.depth);
	assert_int_equal(bucket_bytes(&b), 0);
	assert_int_equal(bucket_when(&b, 0), b.at + 100 * (MAPS_HZ / 125));
	bucket_fill(&b, 1); /* back */
	assert_int_equal(b.tokens, -b.depth);
	bucket_fill(&b, b.at + b.fill - 1);
	assert_int_equal(bucket_bytes(&b), 100);
	bucket_take(&b, b.at, 200);
	bucket_fill(&b, UINT64_MAX);
	assert_int_equal(b.tokens, b.depth);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expire_in_order),
		cmocka_unit_test(buckets_lose_nothing),
		cmocka_unit_test(buckets_are_full_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
