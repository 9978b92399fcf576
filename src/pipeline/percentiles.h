/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of a histogram of times, in all summaries alike (docs/results.md). */
#pragma once

#include <stdint.h>

#include <hdr_histogram.h>
#include <jansson.h>

/* Longer times count as this, one minute; three digits of each are kept. */
#define PERCENTILES_MAX_NS 60000000000
#define PERCENTILES_DIGITS 3

/* In microseconds; of fewer packets than a percentile tells apart it is `max`. */
struct percentiles {
	double mean, p50, p90, p99, p99_9, p99_99, p99_999, max;
};

/* Times that begin with the same two digits. */
struct percentiles_bucket {
	uint64_t ns; /* the shortest */
	uint64_t packets;
};

/* As many as times up to PERCENTILES_MAX_NS can have: 0 to 99, and 90 for each digit more. */
#define PERCENTILES_BUCKETS 1000

/* A histogram of nanoseconds, or NULL when memory is short. To be freed by hdr_close(). */
struct hdr_histogram *percentiles_create(void);

/* Of a histogram of nanoseconds; all 0 where nothing was recorded. */
struct percentiles percentiles_us(const struct hdr_histogram *ns);

/* The buckets with packets, the shortest times first. Returns how many they are. */
unsigned percentiles_buckets(const struct hdr_histogram *ns,
			     struct percentiles_bucket out[PERCENTILES_BUCKETS]);

/* {"mean", "p50", .., "max", "histogram": [[us, packets], ..]}, or null where nothing was measured (NULL)
 * or recorded. The caller owns it. */
json_t *percentiles_json(const struct hdr_histogram *ns);
