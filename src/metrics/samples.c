/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/samples.h"

#include <stdio.h>

#include "metrics/histogram.h"

#define NAME_SIZE 128

struct samples {
	json_t *list;
	size_t most;
	bool cut;
};

/* Text of any bytes: jansson takes UTF-8 only. */
static json_t *label_json(const char *text) {
	json_t *json = json_string(text);

	return json != NULL ? json : json_string("?");
}

static void add(struct samples *to, const struct metric *m, const struct metric_sample *s,
		const char *suffix, const char *le, json_t *value) {
	json_t *labels = json_object();
	char name[NAME_SIZE];

	if (json_array_size(to->list) >= to->most) {
		to->cut = true;
		json_decref(labels);
		json_decref(value);
		return;
	}
	snprintf(name, sizeof(name), "%s%s", m->name, suffix);
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++)
		json_object_set_new(labels, m->labels[l], label_json(s->labels[l]));
	if (le != NULL)
		json_object_set_new(labels, "le", json_string(le));
	json_array_append_new(to->list, json_pack("{s:s, s:o, s:o}", "name", name, "labels", labels,
						  "value", value));
}

static json_t *integer(uint64_t value) {
	return json_integer((json_int_t)value);
}

static void samples_add_histogram(struct samples *to, const struct metric *m,
				  const struct metric_sample *s) {
	const struct metric_histogram *h = s->histogram;

	for (unsigned b = 0; b < h->buckets; b++) {
		char le[METRICS_SECONDS_TEXT];

		metrics_seconds_text(le, h->bounds[b]);
		add(to, m, s, "_bucket", le, integer(h->below[b]));
	}
	add(to, m, s, "_bucket", "+Inf", integer(h->count));
	add(to, m, s, "_sum", NULL, json_real((double)h->sum_ns / 1e9));
	add(to, m, s, "_count", NULL, integer(h->count));
}

static void sample(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct samples *to = arg;

	if (s->histogram != NULL)
		samples_add_histogram(to, m, s);
	else
		add(to, m, s, "", NULL, s->real ? json_real(s->number) : integer(s->integer));
}

json_t *metrics_samples(const struct metrics_source *source,
			const struct metrics_selection *selection, size_t most) {
	struct samples to = {.list = json_array(), .most = most};
	const struct metrics_sink sink = {.sample = sample, .arg = &to};

	if (metrics_walk(source, selection, &sink) && !to.cut)
		return to.list;
	json_decref(to.list);
	return NULL;
}
