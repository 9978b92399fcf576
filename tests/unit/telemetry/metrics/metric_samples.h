/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the samples of a walk over a server's metrics, finds them by labels, and checks their values. */
#pragma once

#include "test.h"

#include <math.h>

#include "telemetry/metrics/metrics.h"

#define MAX_SAMPLES 8000 /* above the number of samples of any walk here */
#define LABEL_SIZE 64

/* The samples of the last walk, and the metrics whose samples began. */
static struct sample_record {
	const struct metric *m;
	char labels[METRIC_LABELS][LABEL_SIZE];
	bool real;
	uint64_t integer;
	double number;
	struct metric_histogram histogram;
} samples[MAX_SAMPLES];
static unsigned sample_count;
static const struct metric *begun[MAX_SAMPLES];
static unsigned begun_count;

static void record_begin(void *arg, const struct metric *m) {
	(void)arg;
	begun[begun_count++] = m;
}

static void record_sample(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct sample_record *t = &samples[sample_count++];

	(void)arg;
	assert_true(sample_count < MAX_SAMPLES);
	*t = (struct sample_record){
		.m = m, .real = s->real, .integer = s->integer, .number = s->number};
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		assert_non_null(s->labels[l]);
		snprintf(t->labels[l], LABEL_SIZE, "%s", s->labels[l]);
	}
	assert_int_equal(s->histogram != NULL, m->type == METRIC_HISTOGRAM);
	if (s->histogram != NULL)
		t->histogram = *s->histogram;
}

/* Walks the selected metrics. Returns false if metrics_walk() had no memory. */
static bool walk_samples(struct metrics_source *source, const struct metrics_selection *selection) {
	const struct metrics_sink sink = {.begin = record_begin, .sample = record_sample};

	sample_count = begun_count = 0;
	return metrics_walk(source, selection, &sink);
}

/* Asserts that no two samples of a metric have the same labels. */
static inline void assert_series_unique(void) {
	for (const struct sample_record *t = samples; t < samples + sample_count; t++) {
		for (const struct sample_record *o = t + 1;
		     o < samples + sample_count && o->m == t->m; o++)
			assert_memory_not_equal(t->labels, o->labels, sizeof(t->labels));
	}
}

static inline bool has_label(const struct sample_record *t, const char *name, const char *value) {
	for (unsigned l = 0; l < METRIC_LABELS && t->m->labels[l] != NULL; l++) {
		if (strcmp(t->m->labels[l], name) == 0)
			return strcmp(t->labels[l], value) == 0;
	}
	return false;
}

/* The number of samples of a metric with this value of a label; `metric` or `label` NULL: any. */
static unsigned count_samples(const char *metric, const char *label, const char *value) {
	unsigned count = 0;

	for (const struct sample_record *t = samples; t < samples + sample_count; t++)
		count += (metric == NULL || strcmp(t->m->name, metric) == 0) &&
			 (label == NULL || has_label(t, label, value));
	return count;
}

/* The sample of a metric with these label values, in the metric's order; NULL: any. Asserts that only one matches. */
static inline const struct sample_record *only_sample(const char *metric,
						      const char *const labels[METRIC_LABELS]) {
	const struct sample_record *match = NULL;
	unsigned count = 0;

	for (unsigned i = 0; i < sample_count; i++) {
		bool same = strcmp(samples[i].m->name, metric) == 0;

		for (unsigned l = 0; same && l < METRIC_LABELS; l++)
			same = labels[l] == NULL || strcmp(samples[i].labels[l], labels[l]) == 0;
		if (same)
			match = &samples[i];
		count += same;
	}
	if (count != 1)
		fail_msg("%u samples of %s{%s, %s, ..}, expected 1", count, metric,
			 labels[0] != NULL ? labels[0] : "", labels[1] != NULL ? labels[1] : "");
	return match;
}

#define FIND(metric, ...) only_sample(metric, (const char *const[METRIC_LABELS]){__VA_ARGS__})

static inline void check(const struct sample_record *t, double value) {
	double actual = t->real ? t->number : (double)t->integer;

	if (fabs(actual - value) > 1e-9 * fabs(value))
		fail_msg("%s{%s, %s, ..}: %f, expected %f", t->m->name, t->labels[0], t->labels[1],
			 actual, value);
}
