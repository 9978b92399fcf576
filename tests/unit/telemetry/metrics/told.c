/* SPDX-License-Identifier: BSD-3-Clause */
#include "told.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

struct told told[TOLD_MOST];
unsigned told_count;
const struct metric *told_begun[TOLD_MOST];
unsigned told_begun_count;

static void on_begin(void *arg, const struct metric *m) {
	(void)arg;
	told_begun[told_begun_count++] = m;
}

static void on_sample(void *arg, const struct metric *m, const struct metric_sample *s) {
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

bool told_walk(struct metrics_source *source, const struct metrics_selection *selection) {
	const struct metrics_sink sink = {.begin = on_begin, .sample = on_sample};

	told_count = told_begun_count = 0;
	return metrics_walk(source, selection, &sink);
}

bool told_has(const struct told *t, const char *name, const char *value) {
	for (unsigned l = 0; l < METRIC_LABELS && t->m->labels[l] != NULL; l++) {
		if (strcmp(t->m->labels[l], name) == 0)
			return strcmp(t->labels[l], value) == 0;
	}
	return false;
}

static bool is_wanted(const struct told *t, const char *metric, const char *group, const char *name,
		      const char *value) {
	return (metric == NULL || strcmp(t->m->name, metric) == 0) &&
	       (group == NULL || told_has(t, "service_group", group)) &&
	       (name == NULL || told_has(t, name, value));
}

unsigned told_samples(const char *metric, const char *group, const char *name, const char *value) {
	unsigned found = 0;

	for (unsigned i = 0; i < told_count; i++)
		found += is_wanted(&told[i], metric, group, name, value);
	return found;
}

const struct told *told_only(const char *metric, const char *const labels[METRIC_LABELS]) {
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

const char *told_text(uint64_t number, char text[TOLD_NUMBER]) {
	snprintf(text, TOLD_NUMBER, "%llu", (unsigned long long)number);
	return text;
}

void told_is(const struct told *t, double value) {
	double told_is = t->real ? t->number : (double)t->integer;

	if (fabs(told_is - value) > 1e-9 * fabs(value))
		fail_msg("%s{%s, %s, ..}: %f, not %f", t->m->name, t->labels[0], t->labels[1],
			 told_is, value);
}
