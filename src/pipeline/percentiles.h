/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles of a histogram of times, as all summaries report them (docs/results.md). */
#pragma once

#include <stdint.h>

#include <hdr_histogram.h>
#include <jansson.h>

/* Longer times count as one minute; three digits are kept. */
#define PERCENTILES_MAX_NS 60000000000
#define PERCENTILES_DIGITS 3

/* In microseconds. With too few packets for a percentile it equals `max`. */
struct percentiles {
	double mean, p50, p90, p99, p99_9, p99_99, p99_999, max;
};

/* Times with the same first two digits. */
struct percentiles_bucket {
	uint64_t ns; /* the shortest */
	uint64_t packets;
};

/* All possible buckets up to PERCENTILES_MAX_NS: 0 to 99, and 90 per further digit. */
#define PERCENTILES_BUCKETS 1000

/* A histogram of nanoseconds, or NULL without memory. The caller frees it by hdr_close(). */
struct hdr_histogram *percentiles_create(void);

/* Percentiles of a histogram of nanoseconds; all 0 if it is empty. */
struct percentiles percentiles_us(const struct hdr_histogram *ns);

/* The buckets with packets, in ascending order. Returns their number. */
unsigned percentiles_buckets(const struct hdr_histogram *ns,
			     struct percentiles_bucket out[PERCENTILES_BUCKETS]);

/* {"mean", "p50", .., "max", "histogram": [[us, packets], ..]}, or null if `ns` is NULL or
 * empty. The caller owns the result. */
json_t *percentiles_json(const struct hdr_histogram *ns);
