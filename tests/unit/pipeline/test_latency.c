/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests latency.c and percentiles.c, with a simulated clock instead of the TSC. */
#include "test_main.h"

#include "pipeline/latency.h"

#include <pthread.h>

#include "random.h"
#include "sorted_times.h"

#define PACKETS 200000
#define BURSTS 200000
#define BURST 7

static uint64_t clock_ns; /* simulates the TSC */
static struct latency latency;

static int set_up(void **state) {
	clock_ns = 1000;
	latency = (struct latency){0};
	latency_simulate(&latency, &clock_ns);
	return latency_switch(&latency, true);
}

static int tear_down(void **state) {
	latency_free(&latency);
	return 0;
}

/* Records one packet that takes `ns`. */
static void record_packet(uint64_t ns) {
	uint64_t arrived = clock_ns;

	clock_ns += ns;
	latency_record(&latency, &arrived, 1);
}

/* With too few packets for a percentile, it is the longest time. */
TEST(percentiles_equal_those_of_sorted_times) {
	static const size_t counts[] = {1, 99, 100, 99999, 100000, PACKETS};
	static uint64_t times[PACKETS];
	struct random random = {.state = 4711};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
		for (; n < counts[i]; n++) { /* tens of ns to seconds, evenly over the decades */
			uint64_t scale = 10;

			for (uint32_t decade = random_below(&random, 8); decade > 0; decade--)
				scale *= 10;
			times[n] = scale + random_below(&random, (uint32_t)scale * 9);
			record_packet(times[n]);
		}
		latency_collect(&latency);
		assert_percentiles_of(latency.whole, times, n);
	}
}

/* Each bucket has the shortest of its times, and the number of packets. */
TEST(buckets_count_each_packet_once) {
	static struct percentiles_bucket buckets[PERCENTILES_BUCKETS];
	static const struct percentiles_bucket expected[] = {
		{0, 2}, {7, 1}, {99, 1}, {100, 2}, {110, 1}, {12000, 3}, {55000000000, 1}};
	static const uint64_t times[] = {0,   0,     7,	    99,	   100,	       109,
					 110, 12000, 12990, 12345, 55500000000};

	for (size_t i = 0; i < ARRAY_COUNT(times); i++)
		record_packet(times[i]);
	latency_collect(&latency);
	assert_int_equal(percentiles_buckets(latency.whole, buckets), ARRAY_COUNT(expected));
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++) {
		assert_int_equal(buckets[i].packets, expected[i].packets);
		assert_near((double)buckets[i].ns, (double)expected[i].ns);
	}
	/* every value that the histogram can record is in one of PERCENTILES_BUCKETS */
	for (int32_t i = 0; i < latency.into->counts_len; i++)
		record_packet((uint64_t)hdr_value_at_index(latency.into, i));
	latency_collect(&latency);
	assert_in_range(percentiles_buckets(latency.whole, buckets), 850, PERCENTILES_BUCKETS);
}

/* Arrival may be after departure, as the TSCs of two cores may differ. */
TEST(times_are_limited_to_zero_and_one_minute) {
	uint64_t arrived = clock_ns + 3;

	latency_record(&latency, &arrived, 1);
	latency_collect(&latency);
	assert_int_equal(latency.whole->total_count, 1);
	assert_int_equal(hdr_max(latency.whole), 0);
	record_packet(70 * 1000000000ull);
	latency_collect(&latency);
	assert_near(percentiles_us(latency.whole).max, 60e6);
}

TEST(packets_from_before_switching_on_are_not_counted) {
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

TEST(reset_clears_recent_times_only) {
	record_packet(100);
	latency_collect(&latency);
	record_packet(300);
	latency_collect(&latency);
	assert_int_equal(latency.recent->total_count, 2);
	latency_reset(&latency);
	record_packet(200);
	latency_collect(&latency);
	assert_int_equal(latency.recent->total_count, 1);
	assert_int_equal(hdr_max(latency.recent), 200);
	assert_int_equal(latency.whole->total_count, 3);
	assert_int_equal(hdr_max(latency.whole), 300);
	latency_reset(&latency);
	assert_int_equal(latency.recent->total_count, 0);
}

/* Without recorded times the JSON is null, as 0 would be a time. */
TEST(percentiles_json_is_null_without_times) {
	json_t *json = percentiles_json(NULL);

	assert_true(json_is_null(json));
	latency_collect(&latency);
	json = percentiles_json(latency.whole);
	assert_true(json_is_null(json));
	record_packet(100);
	latency_collect(&latency);
	json = percentiles_json(latency.whole);
	assert_int_equal(json_array_size(json_object_get(json, "histogram")), 1);
	json_decref(json);
}

static void *record_bursts(void *done) {
	uint64_t arrived[BURST];

	for (unsigned b = 0; b < BURSTS; b++) {
		for (unsigned i = 0; i < BURST; i++)
			arrived[i] = latency.since + i / 2;
		latency_record(&latency, arrived, BURST);
	}
	__atomic_store_n((bool *)done, true, __ATOMIC_RELEASE);
	return NULL;
}

TEST(reader_loses_no_time_while_worker_records) {
	bool done = false;
	uint64_t sum = 0;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, record_bursts, &done), 0);
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

EACH_TEST(set_up, tear_down)
