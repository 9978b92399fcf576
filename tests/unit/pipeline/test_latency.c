/* SPDX-License-Identifier: BSD-3-Clause */
/* Times are recorded as they are, whoever reads meanwhile; percentiles are those of the sorted list. */
#include "test_main.h"

#include "pipeline/latency.h"

#include <pthread.h>

#include "random.h"
#include "sorted_times.h"

#define PACKETS 200000
#define BURSTS 200000
#define BURST 7

static uint64_t clock_ns; /* what the latencies take for the TSC */
static struct latency latency;

static int start(void **state) {
	clock_ns = 1000;
	latency = (struct latency){0};
	latency_simulate(&latency, &clock_ns);
	return latency_switch(&latency, true);
}

static int stop(void **state) {
	latency_free(&latency);
	return 0;
}

/* Records one packet that took `ns`. */
static void took(uint64_t ns) {
	uint64_t arrived = clock_ns;

	clock_ns += ns;
	latency_record(&latency, &arrived, 1);
}

/* Of fewer packets than a percentile is about, the longest is that percentile: none is passed over. */
TEST(percentiles_are_those_of_the_sorted_list) {
	static const size_t counts[] = {1, 99, 100, 99999, 100000, PACKETS};
	static uint64_t times[PACKETS];
	struct random random = {.state = 4711};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
		for (; n < counts[i]; n++) { /* tens of ns to seconds: each decade has its share */
			uint64_t scale = 10;

			for (uint32_t decade = random_below(&random, 8); decade > 0; decade--)
				scale *= 10;
			times[n] = scale + random_below(&random, (uint32_t)scale * 9);
			took(times[n]);
		}
		latency_collect(&latency);
		assert_percentiles_of(latency.whole, times, n);
	}
}

/* Buckets say how many packets took what; their edges are as exact as the recorded times are. */
TEST(buckets_hold_every_packet_once) {
	static struct percentiles_bucket buckets[PERCENTILES_BUCKETS];
	static const struct percentiles_bucket expected[] = {
		{0, 2}, {7, 1}, {99, 1}, {100, 2}, {110, 1}, {12000, 3}, {55000000000, 1}};
	static const uint64_t times[] = {0,   0,     7,	    99,	   100,	       109,
					 110, 12000, 12990, 12345, 55500000000};

	for (size_t i = 0; i < ARRAY_COUNT(times); i++)
		took(times[i]);
	latency_collect(&latency);
	assert_int_equal(percentiles_buckets(latency.whole, buckets), ARRAY_COUNT(expected));
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
		assert_int_equal(buckets[i].packets, expected[i].packets);
		assert_near((double)buckets[i].ns, (double)expected[i].ns);
	}
	/* every time that there is falls into one of so many */
	for (int32_t i = 0; i < latency.into->counts_len; i++)
		took((uint64_t)hdr_value_at_index(latency.into, i));
	latency_collect(&latency);
	assert_in_range(percentiles_buckets(latency.whole, buckets), 850, PERCENTILES_BUCKETS);
}

/* TSCs of two cores may differ a little. */
TEST(no_time_is_below_zero_or_above_a_minute) {
	uint64_t arrived = clock_ns + 3;

	latency_record(&latency, &arrived, 1);
	latency_collect(&latency);
	assert_int_equal(latency.whole->total_count, 1);
	assert_int_equal(hdr_max(latency.whole), 0);
	took(70 * 1000000000ull);
	latency_collect(&latency);
	assert_near(percentiles_us(latency.whole).max, 60e6);
}

TEST(what_came_before_is_not_counted) {
	uint64_t arrived[3] = {clock_ns, clock_ns, 0};

	clock_ns += 500;
	assert_int_equal(latency_switch(&latency, false), 0);
	clock_ns += 500;
	assert_int_equal(latency_switch(&latency, true), 0);
	arrived[1] = clock_ns;
	clock_ns += 50;
	latency_record(&latency, arrived, 3);
	latency_collect(&latency);
	assert_int_equal(latency.whole->total_count, 1);
	assert_int_equal(hdr_max(latency.whole), 50);
}

TEST(a_reset_forgets_the_recent_only) {
	took(100);
	latency_collect(&latency);
	took(300);
	latency_collect(&latency);
	assert_int_equal(latency.recent->total_count, 2);
	latency_reset(&latency);
	took(200);
	latency_collect(&latency);
	assert_int_equal(latency.recent->total_count, 1);
	assert_int_equal(hdr_max(latency.recent), 200);
	assert_int_equal(latency.whole->total_count, 3);
	assert_int_equal(hdr_max(latency.whole), 300);
	latency_reset(&latency);
	assert_int_equal(latency.recent->total_count, 0);
}

/* Where nothing was recorded there is no time: 0 would be one. */
TEST(nothing_recorded_is_null) {
	json_t *json = percentiles_json(NULL);

	assert_true(json_is_null(json));
	latency_collect(&latency);
	json = percentiles_json(latency.whole);
	assert_true(json_is_null(json));
	took(100);
	latency_collect(&latency);
	json = percentiles_json(latency.whole);
	assert_int_equal(json_array_size(json_object_get(json, "histogram")), 1);
	json_decref(json);
}

static void *write_bursts(void *done) {
	uint64_t arrived[BURST];

	for (unsigned b = 0; b < BURSTS; b++) {
		for (unsigned i = 0; i < BURST; i++)
			arrived[i] = latency.since + i / 2;
		latency_record(&latency, arrived, BURST);
	}
	__atomic_store_n((bool *)done, true, __ATOMIC_RELEASE);
	return NULL;
}

TEST(readers_lose_nothing) {
	bool done = false;
	uint64_t sum = 0;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, write_bursts, &done), 0);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		latency_collect(&latency);
		sum += (uint64_t)latency.recent->total_count;
		latency_reset(&latency);
	}
	pthread_join(writer, NULL);
	latency_collect(&latency);
	sum += (uint64_t)latency.recent->total_count;
	assert_int_equal(sum, (uint64_t)BURSTS * BURST);
	assert_int_equal(latency.whole->total_count, (uint64_t)BURSTS * BURST);
}

EACH_TEST(start, stop)
