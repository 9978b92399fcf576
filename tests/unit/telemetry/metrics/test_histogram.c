/* SPDX-License-Identifier: BSD-3-Clause */
/* Buckets for scrapers are sums of those that are kept, and lose none of their values. */
#include "test_main.h"

#include <string.h>

#include <hdr_histogram.h>

#include "telemetry/metrics/histogram.h"

#define LONGEST_NS 1000000000 /* far above the highest bound */

static void buckets_rise(const struct metric_histogram *h) {
	assert_in_range(h->buckets, 10, METRIC_BUCKETS);
	for (unsigned b = 1; b < h->buckets; b++) {
		assert_true(h->bounds[b] > h->bounds[b - 1]);
		assert_true(h->below[b] >= h->below[b - 1]);
	}
	assert_true(h->count >= h->below[h->buckets - 1]);
}

/* A kept bucket lies in one of these: its bounds are where kept ones begin. */
TEST(delays_are_put_together) {
	struct scheduler_delay_report r = {.sum_ns = 123456789};
	struct metric_histogram h;

	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
		r.buckets[b] = b + 1;
	histogram_of_delays(&h, &r);
	buckets_rise(&h);
	for (unsigned of = 0; of < h.buckets; of++) {
		uint64_t below = 0;
		bool begins = false;

		for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
			begins |= scheduler_delay_floor(b) == h.bounds[of];
			if (scheduler_delay_floor(b) < h.bounds[of])
				below += b + 1;
		}
		assert_true(begins);
		assert_int_equal(h.below[of], below);
	}
	assert_int_equal(h.count, SCHEDULER_DELAY_BUCKETS * (SCHEDULER_DELAY_BUCKETS + 1) / 2);
	assert_int_equal(h.sum_ns, 123456789);
}

/* One value at each bound, which is not below it, and one just before it, which is. */
TEST(times_beside_the_bounds) {
	struct metric_histogram empty, h;
	struct hdr_histogram *ns;
	uint64_t sum = LONGEST_NS;

	assert_int_equal(hdr_init(1, 10 * (int64_t)LONGEST_NS, 3, &ns), 0);
	histogram_of_times(&empty, ns);
	buckets_rise(&empty);
	assert_int_equal(empty.count, 0);
	for (unsigned b = 0; b < empty.buckets; b++) {
		hdr_record_value(ns, (int64_t)empty.bounds[b] - 1);
		hdr_record_values(ns, (int64_t)empty.bounds[b], 2);
		sum += 3 * empty.bounds[b] - 1;
	}
	hdr_record_value(ns, LONGEST_NS);
	histogram_of_times(&h, ns);
	buckets_rise(&h);
	for (unsigned b = 0; b < h.buckets; b++)
		assert_int_equal(h.below[b], 3 * b + 1);
	assert_int_equal(h.count, 3 * h.buckets + 1);
	assert_in_range(h.sum_ns, sum - sum / 1000, sum + sum / 1000);
	hdr_close(ns);
}
