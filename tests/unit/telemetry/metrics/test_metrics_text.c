/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests text.c and histogram.c: samples in both text formats, the size limit, and buckets of histograms. */
#include "test_main.h"

#include <hdr_histogram.h>

#include "telemetry/metrics/histogram.h"
#include "telemetry/metrics/text.h"

static const struct metric counter = {
	"a_packets_total", METRIC_COUNTER, "packets", {"x", "y"}, "what \"it\" is \\ not"};
static const struct metric times = {"a_seconds", METRIC_HISTOGRAM, "seconds", {NULL}, "times"};

static const struct metric_histogram histogram = {
	.buckets = 2, .bounds = {2048, 1000000000}, .below = {1, 2}, .count = 4, .sum_ns = 1500};

/* Asserts the text of a sample; `begins`: with the metric's header. */
static void check(enum metrics_format format, bool begins, const struct metric *m,
		  struct metric_sample sample, const char *text) {
	struct metrics_text t = {.max = 65536, .format = format};

	if (begins)
		metrics_text_begin(&t, m);
	metrics_text_sample(&t, m, &sample);
	assert_int_equal(t.size, strlen(text));
	assert_memory_equal(t.text, text, t.size);
	free(t.text);
}

TEST(samples_are_formatted_as_text) {
	check(METRICS_OPEN, true, &counter,
	      (struct metric_sample){.labels = {"1", "b"}, .integer = UINT64_MAX},
	      "# HELP a_packets what \\\"it\\\" is \\\\ not\n# TYPE a_packets counter\n"
	      "# UNIT a_packets packets\na_packets_total{x=\"1\",y=\"b\"} "
	      "18446744073709551615\n");
	check(METRICS_PROMETHEUS, true, &counter,
	      (struct metric_sample){.labels = {"1", "b"}, .real = true, .number = 0.5},
	      "# HELP a_packets_total what \"it\" is \\\\ not\n# TYPE a_packets_total counter\n"
	      "a_packets_total{x=\"1\",y=\"b\"} 0.500000000\n");
	/* names of groups and devices may have any characters */
	check(METRICS_PROMETHEUS, false, &counter,
	      (struct metric_sample){.labels = {"\"} 1\n#\\", "\x01\xff\t"}},
	      "a_packets_total{x=\"\\\"} 1\\n#\\\\\",y=\"???\"} 0\n");
	check(METRICS_PROMETHEUS, false, &times, (struct metric_sample){.histogram = &histogram},
	      "a_seconds_bucket{le=\"0.000002048\"} 1\na_seconds_bucket{le=\"1.0\"} 2\n"
	      "a_seconds_bucket{le=\"+Inf\"} 4\na_seconds_sum 0.0000015\na_seconds_count 4\n");
}

/* A sample that fits the limit exactly is written; with one byte less the text fails. */
TEST(text_over_the_limit_fails) {
	const struct metric_sample s = {.labels = {"1", "b"}};
	const size_t size = strlen("a_packets_total{x=\"1\",y=\"b\"} 0\n");

	for (size_t limit = size - 1; limit <= size; limit++) {
		struct metrics_text t = {.max = limit};

		metrics_text_sample(&t, &counter, &s);
		assert_int_equal(t.failed, limit < size);
		assert_true(t.size <= limit);
		free(t.text);
	}
}

#define LONGEST_NS 1000000000 /* far above the highest bound */

/* Most packets of an idle server spend less than 1 us in a queue: coarser buckets would report several us. */
#define FINEST_NS 256

static void check_buckets(const struct metric_histogram *h) {
	assert_in_range(h->buckets, 10, METRIC_BUCKETS);
	assert_int_equal(h->bounds[0], FINEST_NS);
	assert_in_range(h->bounds[h->buckets - 1], LONGEST_NS / 5, LONGEST_NS);
	for (unsigned b = 1; b < h->buckets; b++) {
		assert_true(h->bounds[b] > h->bounds[b - 1]);
		assert_true(h->below[b] >= h->below[b - 1]);
	}
	assert_true(h->count >= h->below[h->buckets - 1]);
}

/* Bounds of the metric's buckets are bounds of the scheduler's, so that counts are exact. */
TEST(delay_buckets_are_merged_exactly) {
	struct scheduler_delay_report r = {.sum_ns = 123456789};
	struct metric_histogram h;

	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
		r.buckets[b] = b + 1;
	histogram_of_delays(&h, &r);
	check_buckets(&h);
	for (unsigned i = 0; i < h.buckets; i++) {
		uint64_t below = 0;
		bool begins = false;

		for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
			begins |= scheduler_delay_floor(b) == h.bounds[i];
			if (scheduler_delay_floor(b) < h.bounds[i])
				below += b + 1;
		}
		assert_true(begins);
		assert_int_equal(h.below[i], below);
	}
	assert_int_equal(h.count, SCHEDULER_DELAY_BUCKETS * (SCHEDULER_DELAY_BUCKETS + 1) / 2);
	assert_int_equal(h.sum_ns, 123456789);
}

/* A value equal to a bound is not below it; one ns less is. */
TEST(times_at_bounds_are_counted_exactly) {
	struct metric_histogram empty, h;
	struct hdr_histogram *ns;
	uint64_t sum = LONGEST_NS;

	assert_int_equal(hdr_init(1, 10 * (int64_t)LONGEST_NS, 3, &ns), 0);
	histogram_of_times(&empty, ns);
	check_buckets(&empty);
	assert_int_equal(empty.count, 0);
	for (unsigned b = 0; b < empty.buckets; b++) {
		hdr_record_value(ns, (int64_t)empty.bounds[b] - 1);
		hdr_record_values(ns, (int64_t)empty.bounds[b], 2);
		sum += 3 * empty.bounds[b] - 1;
	}
	hdr_record_value(ns, LONGEST_NS);
	histogram_of_times(&h, ns);
	check_buckets(&h);
	for (unsigned b = 0; b < h.buckets; b++)
		assert_int_equal(h.below[b], 3 * b + 1);
	assert_int_equal(h.count, 3 * h.buckets + 1);
	assert_in_range(h.sum_ns, sum - sum / 1000, sum + sum / 1000);
	hdr_close(ns);
}
