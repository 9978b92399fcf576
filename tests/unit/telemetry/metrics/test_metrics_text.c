/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples as text: what stands where, and that nothing is half written. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "telemetry/metrics/histogram.h"
#include "telemetry/metrics/text.h"

static const struct metric counter = {
	"a_packets_total", METRIC_COUNTER, "packets", {"x", "y"}, "what \"it\" is \\ not"};
static const struct metric times = {"a_seconds", METRIC_HISTOGRAM, "seconds", {NULL}, "times"};

static void is_text(struct metrics_text *t, const char *text) {
	assert_int_equal(t->size, strlen(text));
	assert_memory_equal(t->text, text, t->size);
	free(t->text);
}

TEST(test_openmetrics) {
	struct metrics_text t = {.most = 65536, .format = METRICS_OPEN};
	const struct metric_sample s = {.labels = {"1", "b"}, .integer = UINT64_MAX};

	metrics_text_begin(&t, &counter);
	metrics_text_sample(&t, &counter, &s);
	is_text(&t, "# HELP a_packets what \\\"it\\\" is \\\\ not\n# TYPE a_packets counter\n"
		    "# UNIT a_packets packets\na_packets_total{x=\"1\",y=\"b\"} "
		    "18446744073709551615\n");
}

TEST(test_prometheus) {
	struct metrics_text t = {.most = 65536};
	const struct metric_sample s = {.labels = {"1", "b"}, .real = true, .number = 0.5};

	metrics_text_begin(&t, &counter);
	metrics_text_sample(&t, &counter, &s);
	is_text(&t, "# HELP a_packets_total what \"it\" is \\\\ not\n"
		    "# TYPE a_packets_total counter\n"
		    "a_packets_total{x=\"1\",y=\"b\"} 0.500000000\n");
}

/* Names of groups and devices may be anything. */
TEST(test_label_values) {
	struct metrics_text t = {.most = 65536};
	const struct metric_sample s = {.labels = {"\"} 1\n#\\", "\x01\xff\t"}};

	metrics_text_sample(&t, &counter, &s);
	is_text(&t, "a_packets_total{x=\"\\\"} 1\\n#\\\\\",y=\"???\"} 0\n");
}

TEST(test_histogram) {
	struct metrics_text t = {.most = 65536};
	const struct metric_histogram h = {.buckets = 2,
					   .bounds = {2048, 1000000000},
					   .below = {1, 2},
					   .count = 4,
					   .sum_ns = 1500};
	const struct metric_sample s = {.histogram = &h};

	metrics_text_sample(&t, &times, &s);
	is_text(&t,
		"a_seconds_bucket{le=\"0.000002048\"} 1\na_seconds_bucket{le=\"1.0\"} 2\n"
		"a_seconds_bucket{le=\"+Inf\"} 4\na_seconds_sum 0.0000015\na_seconds_count 4\n");
}

/* At the limit all of it is there, one byte below it is told. */
TEST(test_limit) {
	const struct metric_sample s = {.labels = {"1", "b"}};
	const size_t size = strlen("a_packets_total{x=\"1\",y=\"b\"} 0\n");

	for (size_t most = size - 1; most <= size; most++) {
		struct metrics_text t = {.most = most};

		metrics_text_sample(&t, &counter, &s);
		assert_int_equal(t.cut, most < size);
		assert_true(t.size <= most);
		free(t.text);
	}
}
