/* SPDX-License-Identifier: BSD-3-Clause */
/* What a walk over a server's metrics told. */
#pragma once

#include "test.h"

#include <math.h>

#include "telemetry/metrics/metrics.h"

#define TOLD_MOST 8000 /* samples: more than there are */
#define TOLD_LABEL 64

/* Of the last walk. */
static struct told {
	const struct metric *m;
	char labels[METRIC_LABELS][TOLD_LABEL];
	bool real;
	uint64_t integer;
	double number;
	struct metric_histogram histogram;
} told[TOLD_MOST];
static unsigned told_count;
static const struct metric *told_begun[TOLD_MOST];
static unsigned told_begun_count;

static void told_begin(void *arg, const struct metric *m) {
	(void)arg;
	told_begun[told_begun_count++] = m;
}

static void told_sample(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct told *t = &told[told_count++];

	(void)arg;
	assert_true(told_count < TOLD_MOST);
	*t = (struct told){.m = m, .real = s->real, .integer = s->integer, .number = s->number};
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		assert_non_null(s->labels[l]);
		snprintf(t->labels[l], TOLD_LABEL, "%s", s->labels[l]);
	}
	assert_int_equal(s->histogram != NULL, m->type == METRIC_HISTOGRAM);
	if (s->histogram != NULL)
		t->histogram = *s->histogram;
}

/* Returns whether there was memory for it. */
static bool told_walk(struct metrics_source *source, const struct metrics_selection *selection) {
	const struct metrics_sink sink = {.begin = told_begin, .sample = told_sample};

	told_count = told_begun_count = 0;
	return metrics_walk(source, selection, &sink);
}

/* Fails where a series is there twice: samples of a metric are told together. */
static inline void told_once(void) {
	for (const struct told *t = told; t < told + told_count; t++) {
		for (const struct told *o = t + 1; o < told + told_count && o->m == t->m; o++)
			assert_memory_not_equal(t->labels, o->labels, sizeof(t->labels));
	}
}

/* Whether a label of that name has this value. */
static inline bool told_has(const struct told *t, const char *name, const char *value) {
	for (unsigned l = 0; l < METRIC_LABELS && t->m->labels[l] != NULL; l++) {
		if (strcmp(t->m->labels[l], name) == 0)
			return strcmp(t->labels[l], value) == 0;
	}
	return false;
}

/* How many samples of a metric have this value of a label; NULL: any. */
static unsigned told_samples(const char *metric, const char *label, const char *value) {
	unsigned found = 0;

	for (const struct told *t = told; t < told + told_count; t++)
		found += (metric == NULL || strcmp(t->m->name, metric) == 0) &&
			 (label == NULL || told_has(t, label, value));
	return found;
}

/* The only sample of a metric with these values of its labels, in their order; NULL: any. Fails where it is not one. */
static inline const struct told *told_only(const char *metric,
					   const char *const labels[METRIC_LABELS]) {
	const struct told *found = NULL;
	unsigned count = 0;

	for (unsigned i = 0; i < told_count; i++) {
		bool same = strcmp(told[i].m->name, metric) == 0;

		for (unsigned l = 0; same && l < METRIC_LABELS; l++)
			same = labels[l] == NULL || strcmp(told[i].labels[l], labels[l]) == 0;
		if (same)
			found = &told[i];
		count += same;
	}
	if (count != 1)
		fail_msg("%u of %s{%s, %s, ..}", count, metric, labels[0] != NULL ? labels[0] : "",
			 labels[1] != NULL ? labels[1] : "");
	return found;
}

#define TOLD(metric, ...) told_only(metric, (const char *const[METRIC_LABELS]){__VA_ARGS__})

/* Fails where the sample has another value. */
static inline void told_is(const struct told *t, double value) {
	double is = t->real ? t->number : (double)t->integer;

	if (fabs(is - value) > 1e-9 * fabs(value))
		fail_msg("%s{%s, %s, ..}: %f, not %f", t->m->name, t->labels[0], t->labels[1], is,
			 value);
}
