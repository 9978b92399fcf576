/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/samples.h"

#include <stdio.h>

#include "metrics/histogram.h"

#define NAME_SIZE 128
#define SECOND_NS 1e9

struct samples {
	json_t *list; /* NULL: given up, there is but the count */
	size_t count, most;
};

/* Those that are there are freed at once: there may be many, and more are to be counted. */
static void samples_give_up(struct samples *to) {
	json_decref(to->list);
	to->list = NULL;
}

/* Text of any bytes: jansson takes UTF-8 only. */
static json_t *label_json(const char *text) {
	json_t *json = json_string(text);

	return json != NULL ? json : json_string("?");
}

static json_t *labels_json(const struct metric *m, const struct metric_sample *s, const char *le) {
	json_t *labels = json_object();
	int failed = labels == NULL;

	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++)
		failed |= json_object_set_new(labels, m->labels[l], label_json(s->labels[l]));
	if (le != NULL)
		failed |= json_object_set_new(labels, "le", json_string(le));
	if (failed == 0)
		return labels;
	json_decref(labels);
	return NULL;
}

static json_t *number_json(const struct metric_sample *s) {
	return s->real ? json_real(s->number) : json_integer((json_int_t)s->integer);
}

/* `s` with the label `le` where it is not NULL. */
static void samples_add(struct samples *to, const struct metric *m, const struct metric_sample *s,
			const char *suffix, const char *le) {
	char name[NAME_SIZE];

	to->count++;
	if (to->list == NULL)
		return;
	snprintf(name, sizeof(name), "%s%s", m->name, suffix);
	/* json_pack() takes what is NULL as a failure, and frees the others. */
	if (to->count > to->most ||
	    json_array_append_new(to->list,
				  json_pack("{s:s, s:o, s:o}", "name", name, "labels",
					    labels_json(m, s, le), "value", number_json(s))) != 0)
		samples_give_up(to);
}

static void samples_add_histogram(struct samples *to, const struct metric *m,
				  const struct metric_sample *s) {
	const struct metric_histogram *h = s->histogram;
	struct metric_sample part = *s;

	for (unsigned b = 0; b < h->buckets; b++) {
		char le[METRICS_SECONDS_TEXT];

		metrics_seconds_text(le, h->bounds[b]);
		part.integer = h->below[b];
		samples_add(to, m, &part, "_bucket", le);
	}
	part.integer = h->count;
	samples_add(to, m, &part, "_bucket", "+Inf");
	samples_add(to, m, &part, "_count", NULL);
	part.real = true;
	part.number = (double)h->sum_ns / SECOND_NS;
	samples_add(to, m, &part, "_sum", NULL);
}

static void samples_take(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct samples *to = arg;

	if (s->histogram != NULL)
		samples_add_histogram(to, m, s);
	else
		samples_add(to, m, s, "", NULL);
}

json_t *metrics_samples(const struct metrics_source *source,
			const struct metrics_selection *selection, size_t most, size_t *count) {
	struct samples to = {.list = json_array(), .most = most};
	const struct metrics_sink sink = {.sample = samples_take, .arg = &to};

	if (!metrics_walk(source, selection, &sink))
		samples_give_up(&to);
	*count = to.count;
	return to.list;
}
