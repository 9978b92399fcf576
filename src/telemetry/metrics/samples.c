/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/samples.h"

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "telemetry/metrics/histogram.h"

#define SECOND_NS 1e9
#define METRIC_SHIFT 32 /* a cursor has the metric above this bit, its sample below */

struct samples {
	FILE *out;
	size_t left; /* samples that may still be written */
	size_t *count;
	uint64_t first; /* cursor of the first sample to write */
	uint64_t at; /* cursor of the walk */
	uint64_t next; /* cursor of the first unwritten sample */
};

static bool is_plain(const char *text) {
	for (; *text != '\0'; text++) {
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	}
	return true;
}

/* Writes a text. JSON allows only UTF-8, so any other text becomes "?". */
static void write_text(FILE *out, const char *text) {
	json_t *json;

	if (is_plain(text)) {
		fprintf(out, "\"%s\"", text);
		return;
	}
	json = json_string(text);
	if (json == NULL || json_dumpf(json, out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) != 0)
		fputs("\"?\"", out);
	json_decref(json);
}

static void write_labels(FILE *out, const struct metric *m, const struct metric_sample *s,
			 const char *le) {
	const char *before = "";

	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		fprintf(out, "%s\"%s\":", before, m->labels[l]);
		write_text(out, s->labels[l]);
		before = ",";
	}
	if (le != NULL)
		fprintf(out, "%s\"le\":\"%s\"", before, le);
}

/* The decimal point marks a real number. */
static void write_number(FILE *out, const struct metric_sample *s) {
	char text[32];

	if (!s->real) {
		fprintf(out, "%" PRIu64, s->integer);
		return;
	}
	snprintf(text, sizeof(text), "%.17g", s->number);
	fprintf(out, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
}

/* Adds `s`, with the label `le` if not NULL. */
static void samples_add(struct samples *to, const struct metric *m, const struct metric_sample *s,
			const char *suffix, const char *le) {
	uint64_t at = to->at++;

	if (at < to->first)
		return;
	if (to->left == 0) {
		if (to->next == METRICS_SAMPLES_END)
			to->next = at;
		return;
	}
	to->left--;
	fprintf(to->out, "%s{\"name\":\"%s%s\",\"labels\":{", (*to->count)++ > 0 ? "," : "",
		m->name, suffix);
	write_labels(to->out, m, s, le);
	fputs("},\"value\":", to->out);
	write_number(to->out, s);
	fputc('}', to->out);
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

/* Skips the collection of metrics before the first cursor, and after the output is full. */
static bool samples_visit(void *arg, unsigned entry) {
	struct samples *to = arg;

	to->at = (uint64_t)entry << METRIC_SHIFT;
	return entry >= to->first >> METRIC_SHIFT && to->next == METRICS_SAMPLES_END;
}

/* Counts samples like samples_add(). */
static enum metrics_skip samples_skip(void *arg, size_t count) {
	struct samples *to = arg;

	if (to->at + count <= to->first) {
		to->at += count;
		return METRICS_SKIP;
	}
	if (to->left > 0)
		return count > 0 ? METRICS_VISIT : METRICS_SKIP;
	if (to->next == METRICS_SAMPLES_END)
		to->next = to->at;
	return METRICS_SKIP_REST;
}

static void samples_put(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct samples *to = arg;

	if (s->histogram != NULL)
		samples_add_histogram(to, m, s);
	else
		samples_add(to, m, s, "", NULL);
}

bool metrics_samples(const struct metrics_source *source, const struct metrics_selection *selection,
		     FILE *out, size_t max, uint64_t *cursor, size_t *count) {
	struct samples to = {
		.out = out,
		.left = max,
		.count = count,
		.first = *cursor,
		.next = METRICS_SAMPLES_END,
	};
	const struct metrics_sink sink = {
		.visit = samples_visit, .skip = samples_skip, .sample = samples_put, .arg = &to};

	if (!metrics_walk(source, selection, &sink))
		return false;
	*cursor = to.next;
	return true;
}
