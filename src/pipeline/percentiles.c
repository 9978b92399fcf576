/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/percentiles.h"

#include <stddef.h>

struct hdr_histogram *percentiles_create(void) {
	struct hdr_histogram *h = NULL;

	return hdr_init(1, PERCENTILES_MAX_NS, PERCENTILES_DIGITS, &h) == 0 ? h : NULL;
}

/*
 * The microseconds that all packets but one of `beyond` took at most.
 *
 * It rounds the rank up. The library rounds to the nearest one, and so excludes the longest of
 * 60,000 from the 99.999th percentile.
 */
static double all_but_one_of(const struct hdr_histogram *ns, int64_t beyond) {
	int64_t rank = ns->total_count - ns->total_count / beyond;

	return (double)hdr_value_at_percentile(ns, 100.0 * (double)rank / (double)ns->total_count) /
	       1e3;
}

struct percentiles percentiles_us(const struct hdr_histogram *ns) {
	if (ns->total_count == 0)
		return (struct percentiles){0};
	return (struct percentiles){
		.mean = hdr_mean(ns) / 1e3,
		.p50 = all_but_one_of(ns, 2),
		.p90 = all_but_one_of(ns, 10),
		.p99 = all_but_one_of(ns, 100),
		.p99_9 = all_but_one_of(ns, 1000),
		.p99_99 = all_but_one_of(ns, 10000),
		.p99_999 = all_but_one_of(ns, 100000),
		.max = (double)hdr_max(ns) / 1e3,
	};
}

/* Keeps the first two digits and sets the others to 0. */
static uint64_t bucket_floor(uint64_t value) {
	uint64_t scale = 1;

	while (value / scale >= 100)
		scale *= 10;
	return value / scale * scale;
}

unsigned percentiles_buckets(const struct hdr_histogram *ns,
			     struct percentiles_bucket out[PERCENTILES_BUCKETS]) {
	struct hdr_iter iter;
	unsigned n = 0;

	hdr_iter_recorded_init(&iter, ns);
	while (hdr_iter_next(&iter)) {
		uint64_t middle = (uint64_t)hdr_median_equivalent_value(ns, iter.value);
		uint64_t floor = bucket_floor(middle);

		if (n == 0 || out[n - 1].ns != floor)
			out[n++] = (struct percentiles_bucket){.ns = floor};
		out[n - 1].packets += (uint64_t)iter.count;
	}
	return n;
}

static json_t *percentiles_histogram_json(const struct hdr_histogram *ns) {
	struct percentiles_bucket buckets[PERCENTILES_BUCKETS];
	unsigned n = percentiles_buckets(ns, buckets);
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_pack("[f, I]", (double)buckets[i].ns / 1e3,
						      (json_int_t)buckets[i].packets));
	return list;
}

json_t *percentiles_json(const struct hdr_histogram *ns) {
	struct percentiles p;

	if (ns == NULL || ns->total_count == 0)
		return json_null();
	p = percentiles_us(ns);
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "mean", p.mean, "p50",
			 p.p50, "p90", p.p90, "p99", p.p99, "p99_9", p.p99_9, "p99_99", p.p99_99,
			 "p99_999", p.p99_999, "max", p.max, "histogram",
			 percentiles_histogram_json(ns));
}
