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

static const struct metric_histogram histogram = {
	.buckets = 2, .bounds = {2048, 1000000000}, .below = {1, 2}, .count = 4, .sum_ns = 1500};

TEST(samples_as_text) {
	static const struct {
		enum metrics_format format;
		bool begins;
		const struct metric *metric;
		struct metric_sample sample;
		const char *text;
	} cases[] = {
		{METRICS_OPEN,
		 true,
		 &counter,
		 {.labels = {"1", "b"}, .integer = UINT64_MAX},
		 "# HELP a_packets what \\\"it\\\" is \\\\ not\n# TYPE a_packets counter\n"
		 "# UNIT a_packets packets\na_packets_total{x=\"1\",y=\"b\"} "
		 "18446744073709551615\n"},
		{METRICS_PROMETHEUS,
		 true,
		 &counter,
		 {.labels = {"1", "b"}, .real = true, .number = 0.5},
		 "# HELP a_packets_total what \"it\" is \\\\ not\n"
		 "# TYPE a_packets_total counter\na_packets_total{x=\"1\",y=\"b\"} 0.500000000\n"},
		/* names of groups and devices may be anything */
		{METRICS_PROMETHEUS,
		 false,
		 &counter,
		 {.labels = {"\"} 1\n#\\", "\x01\xff\t"}},
		 "a_packets_total{x=\"\\\"} 1\\n#\\\\\",y=\"???\"} 0\n"},
		{METRICS_PROMETHEUS,
		 false,
		 &times,
		 {.histogram = &histogram},
		 "a_seconds_bucket{le=\"0.000002048\"} 1\na_seconds_bucket{le=\"1.0\"} 2\n"
		 "a_seconds_bucket{le=\"+Inf\"} 4\na_seconds_sum 0.0000015\na_seconds_count 4\n"},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct metrics_text t = {.most = 65536, .format = cases[i].format};

		if (cases[i].begins)
			metrics_text_begin(&t, cases[i].metric);
		metrics_text_sample(&t, cases[i].metric, &cases[i].sample);
		assert_int_equal(t.size, strlen(cases[i].text));
		assert_memory_equal(t.text, cases[i].text, t.size);
		free(t.text);
	}
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
