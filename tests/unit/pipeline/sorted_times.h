/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles of times beside those of the sorted list. */
#pragma once

#include <math.h>

#include "pipeline/percentiles.h"

#include "test.h"

#define EXACT 0.001 /* three digits are kept */

static inline int by_value(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static inline void assert_near(double found, double expected) {
	if (fabs(found - expected) > EXACT * expected + 0.001)
		fail_msg("found %f, expected %f", found, expected);
}

/* The shortest of the sorted times that no more than one of `beyond` are longer than, in us. */
static inline double rank(const uint64_t *sorted, size_t count, size_t beyond) {
	return (double)sorted[count - 1 - count / beyond] / 1e3;
}

/* Sorts the times (ns). */
static inline void assert_percentiles_of(const struct hdr_histogram *h, uint64_t *times,
					 size_t count) {
	const struct percentiles p = percentiles_us(h);
	double sum = 0;

	assert_int_equal(h->total_count, count);
	qsort(times, count, sizeof(times[0]), by_value);
	for (size_t i = 0; i < count; i++)
		sum += (double)times[i] / 1e3;
	assert_near(p.mean, sum / (double)count);
	assert_near(p.p50, rank(times, count, 2));
	assert_near(p.p90, rank(times, count, 10));
	assert_near(p.p99, rank(times, count, 100));
	assert_near(p.p99_9, rank(times, count, 1000));
	assert_near(p.p99_99, rank(times, count, 10000));
	assert_near(p.p99_999, rank(times, count, 100000));
	assert_near(p.max, (double)times[count - 1] / 1e3);
}
