/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples as text: what stands where, and that nothing is half written. */
#include "test.h"

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

static void test_openmetrics(void **state) {
	struct metrics_text t = {.most = 65536, .format = METRICS_OPEN};
	const struct metric_sample s = {.labels = {"1", "b"}, .integer = UINT64_MAX};

	(void)state;
	metrics_text_begin(&t, &counter);
	metrics_text_sample(&t, &counter, &s);
	is_text(&t, "# HELP a_packets what \\\"it\\\" is \\\\ not\n# TYPE a_packets counter\n"
		    "# UNIT a_packets packets\na_packets_total{x=\"1\",y=\"b\"} "
		    "18446744073709551615\n");
}

static void test_prometheus(void **state) {
	struct metrics_text t = {.most = 65536};
	const struct metric_sample s = {.labels = {"1", "b"}, .real = true, .number = 0.5};

	(void)state;
	metrics_text_begin(&t, &counter);
	metrics_text_sample(&t, &counter, &s);
	is_text(&t, "# HELP a_packets_total what \"it\" is \\\\ not\n"
		    "# TYPE a_packets_total counter\n"
		    "a_packets_total{x=\"1\",y=\"b\"} 0.500000000\n");
}

/* Names of groups and devices may be anything. */
static void test_label_values(void **state) {
	struct metrics_text t = {.most = 65536};
	const struct metric_sample s = {.labels = {"\"} 1\n#\\", "\x01\xff\t"}};

	(void)state;
	metrics_text_sample(&t, &counter, &s);
	is_text(&t, "a_packets_total{x=\"\\\"} 1\\n#\\\\\",y=\"???\"} 0\n");
}

static void test_histogram(void **state) {
	struct metrics_text t = {.most = 65536};
	const struct metric_histogram h = {.buckets = 2,
					   .bounds = {2048, 1000000000},
					   .below = {1, 2},
					   .count = 4,
					   .sum_ns = 1500};
	const struct metric_sample s = {.histogram = &h};

	(void)state;
	metrics_text_sample(&t, &times, &s);
	is_text(&t,
		"a_seconds_bucket{le=\"0.000002048\"} 1\na_seconds_bucket{le=\"1.0\"} 2\n"
		"a_seconds_bucket{le=\"+Inf\"} 4\na_seconds_sum 0.0000015\na_seconds_count 4\n");
}

/* At the limit all of it is there, one byte below it is told. */
static void test_limit(void **state) {
	const struct metric_sample s = {.labels = {"1", "b"}};
	const size_t size = strlen("a_packets_total{x=\"1\",y=\"b\"} 0\n");

	(void)state;
	for (size_t most = size - 1; most <= size; most++) {
		struct metrics_text t = {.most = most};

		metrics_text_sample(&t, &counter, &s);
		assert_int_equal(t.cut, most < size);
		assert_true(t.size <= most);
		free(t.text);
	}
}

/* Each delay is counted below the bounds that it is below, and nowhere else. */
static void test_delays(void **state) {
	struct scheduler_delay_report r = {.sum_ns = 7};
	struct metric_histogram h;

	(void)state;
	for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++)
		r.buckets[b] = 1 + b;
	histogram_of_delays(&h, &r);
	for (unsigned i = 0; i < h.buckets; i++) {
		uint64_t below = 0;
		bool exact = false;

		for (unsigned b = 0; b < SCHEDULER_DELAY_BUCKETS; b++) {
			exact = exact || scheduler_delay_floor(b) == h.bounds[i];
			below += scheduler_delay_floor(b + 1) <= h.bounds[i] ? 1 + b : 0;
		}
		assert_true(exact);
		assert_int_equal(h.below[i], below);
		assert_true(i == 0 || h.bounds[i] > h.bounds[i - 1]);
	}
	assert_int_equal(h.count, SCHEDULER_DELAY_BUCKETS * (SCHEDULER_DELAY_BUCKETS + 1) / 2);
	assert_int_equal(h.sum_ns, 7);
}

/* Every counter of a direction has one metric, whose name says its unit. */
static void test_registry(void **state) {
	static const enum direction directions[] = {DIRECTION_DOWN, DIRECTION_UP, DIRECTION_PORT};
	unsigned counters = 0;

	(void)state;
	for (unsigned d = 0; d < 3; d++) {
		for (enum counter c = 0; c < COUNTERS; c++) {
			const struct metric *m = metrics_of_counter(c, directions[d]);

			assert_int_equal(m != NULL, counter_in(c, directions[d]));
			counters += m != NULL;
		}
	}
	assert_true(metrics_count() > counters);
	for (unsigned i = 0; i < metrics_count(); i++) {
		const struct metric *m = metrics_at(i);
		size_t stem = strlen(m->name) - (m->type == METRIC_COUNTER ? 6 : 0);
		size_t unit = strlen(m->unit);

		assert_int_equal(strncmp(m->name, "vcmts_", 6), 0);
		assert_int_equal(strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
				 strlen(m->name));
		assert_int_equal(strcmp(m->name + strlen(m->name) - 6, "_total") == 0,
				 m->type == METRIC_COUNTER);
		assert_true(unit == 0 || (stem > unit && m->name[stem - unit - 1] == '_' &&
					  strncmp(m->name + stem - unit, m->unit, unit) == 0));
		assert_true(m->help[0] != '\0');
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(metrics_at(k)->name, m->name);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openmetrics),  cmocka_unit_test(test_prometheus),
		cmocka_unit_test(test_label_values), cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_limit),	     cmocka_unit_test(test_delays),
		cmocka_unit_test(test_registry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
