/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/histogram.h"

#include <inttypes.h>
#include <stdio.h>

#define FIRST 8 /* 2^8 ns, .. 268 ms */
#define BUCKETS 21

_Static_assert(BUCKETS <= METRIC_BUCKETS, "a sample has space for them");

static void histogram_begin(struct metric_histogram *out) {
	*out = (struct metric_histogram){.buckets = BUCKETS};
	for (unsigned b = 0; b < BUCKETS; b++)
		out->bounds[b] = UINT64_C(1) << (FIRST + b);
}

/* Adds `count` values of one source bucket whose lower bound is `ns`. */
static void histogram_add(struct metric_histogram *out, uint64_t ns, uint64_t count) {
	for (unsigned b = BUCKETS; b > 0 && ns < out->bounds[b - 1]; b--)
		out->below[b - 1] += count;
	out->count += count;
}

void histogram_of_times(struct metric_histogram *out, const struct hdr_histogram *ns) {
	struct hdr_iter iter;

	histogram_begin(out);
	hdr_iter_recorded_init(&iter, ns);
	while (hdr_iter_next(&iter)) {
		histogram_add(out, (uint64_t)hdr_lowest_equivalent_value(ns, iter.value),
			      (uint64_t)iter.count);
		out->sum_ns += (uint64_t)hdr_median_equivalent_value(ns, iter.value) *
			       (uint64_t)iter.count;
	}
}

void histogram_of_delays(struct metric_histogram *out, const struct scheduler_delay_report *r) {
	histogram_begin(out);
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
		if (r->buckets[b] > 0)
			histogram_add(out, scheduler_delay_floor(b), r->buckets[b]);
	}
	out->sum_ns = r->sum_ns;
}

void metrics_seconds_text(char out[METRICS_SECONDS_TEXT], uint64_t ns) {
	size_t size = (size_t)snprintf(out, METRICS_SECONDS_TEXT, "%" PRIu64 ".%09" PRIu64,
				       ns / 1000000000, ns % 1000000000);

	while (out[size - 1] == '0' && out[size - 2] != '.')
		out[--size] = '\0';
}
