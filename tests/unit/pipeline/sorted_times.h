/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the percentiles of a histogram with those of the sorted list of its times. */
#pragma once

#include <math.h>

#include "pipeline/percentiles.h"

#include "test.h"

#define PRECISION 0.001 /* relative; histograms keep three digits */

static inline int compare_times(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline void assert_near(double actual, double expected) {
	if (fabs(actual - expected) > PRECISION * expected + 0.001)
		fail_msg("percentile is %f us, expected %f us", actual, expected);
}

/* The time in us that at most one in `beyond` of the sorted times (ns) exceeds. */
static inline double percentile(const uint64_t *sorted, size_t count, size_t beyond) {
	return (double)sorted[count - 1 - count / beyond] / 1e3;
}

/* Asserts that the percentiles of `h` are those of the times (ns), which this sorts. */
static inline void assert_percentiles_of(const struct hdr_histogram *h, uint64_t *times,
					 size_t count) {
	const struct percentiles p = percentiles_us(h);
	double sum = 0;

	assert_int_equal(h->total_count, count);
	qsort(times, count, sizeof(times[0]), compare_times);
	for (size_t i = 0; i < count; i++)
		sum += (double)times[i] / 1e3;
	assert_near(p.mean, sum / (double)count);
	assert_near(p.p50, percentile(times, count, 2));
	assert_near(p.p90, percentile(times, count, 10));
	assert_near(p.p99, percentile(times, count, 100));
	assert_near(p.p99_9, percentile(times, count, 1000));
	assert_near(p.p99_99, percentile(times, count, 10000));
	assert_near(p.p99_999, percentile(times, count, 100000));
	assert_near(p.max, (double)times[count - 1] / 1e3);
}
