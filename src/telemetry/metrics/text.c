/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telemetry/metrics/histogram.h"

#define FIRST_SIZE 65536
#define NUMBER_SIZE METRICS_SECONDS_TEXT
#define TOTAL "_total"

const char *metrics_content_type(enum metrics_format format) {
	return format == METRICS_OPEN ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				      : "text/plain; version=0.0.4; charset=utf-8";
}

static bool text_reserve(struct metrics_text *t, size_t more) {
	size_t capacity = t->capacity > 0 ? t->capacity : FIRST_SIZE;
	char *text;

	if (t->failed || more > t->max || t->size > t->max - more) {
		t->failed = true;
		return false;
	}
	if (t->size + more <= t->capacity)
		return true;
	while (capacity < t->size + more)
		capacity *= 2;
	text = realloc(t->text, capacity);
	if (text == NULL) {
		t->failed = true;
		return false;
	}
	t->text = text;
	t->capacity = capacity;
	return true;
}

static void put_bytes(struct metrics_text *t, const char *bytes, size_t size) {
	if (!text_reserve(t, size))
		return;
	memcpy(t->text + t->size, bytes, size);
	t->size += size;
}

static void put_text(struct metrics_text *t, const char *text) {
	put_bytes(t, text, strlen(text));
}

/* Writes text between quotes. Names may contain any bytes; those that are not printable ASCII
 * become '?'. */
static void put_escaped(struct metrics_text *t, const char *text) {
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			put_text(t, "\\n");
		else if (*text == '"')
			put_text(t, "\\\"");
		else if (*text == '\\')
			put_text(t, "\\\\");
		else
			put_bytes(t, *text >= ' ' && *text <= '~' ? text : "?", 1);
	}
}

/* Bytes of the name in HELP and TYPE: OpenMetrics omits _total there. */
static size_t family_size(const struct metrics_text *t, const struct metric *m) {
	size_t size = strlen(m->name);

	if (t->format == METRICS_OPEN && m->type == METRIC_COUNTER)
		size -= strlen(TOTAL);
	return size;
}

static void put_comment(struct metrics_text *t, const char *what, const struct metric *m) {
	put_text(t, what);
	put_bytes(t, m->name, family_size(t, m));
	put_text(t, " ");
}

static void put_help(struct metrics_text *t, const char *help) {
	for (; *help != '\0'; help++) {
		if (*help == '\\' || (*help == '"' && t->format == METRICS_OPEN))
			put_text(t, "\\");
		put_bytes(t, help, 1);
	}
	put_text(t, "\n");
}

void metrics_text_begin(void *arg, const struct metric *m) {
	struct metrics_text *t = arg;

	put_comment(t, "# HELP ", m);
	put_help(t, m->help);
	put_comment(t, "# TYPE ", m);
	put_text(t, metric_type_name(m->type));
	put_text(t, "\n");
	if (t->format == METRICS_OPEN && *m->unit != '\0') {
		put_comment(t, "# UNIT ", m);
		put_text(t, m->unit);
		put_text(t, "\n");
	}
}

/* Writes name, labels and a space. `le` may be NULL. */
static void put_series(struct metrics_text *t, const struct metric *m, const char *suffix,
		       const char *const labels[METRIC_LABELS], const char *le) {
	const char *between = "{";

	put_text(t, m->name);
	put_text(t, suffix);
	for (unsigned l = 0; l < METRIC_LABELS && m->labels[l] != NULL; l++) {
		put_text(t, between);
		put_text(t, m->labels[l]);
		put_text(t, "=\"");
		put_escaped(t, labels[l]);
		put_text(t, "\"");
		between = ",";
	}
	if (le != NULL) {
		put_text(t, between);
		put_text(t, "le=\"");
		put_text(t, le);
		put_text(t, "\"");
		between = ",";
	}
	put_text(t, *between == ',' ? "} " : " ");
}

static void put_integer(struct metrics_text *t, uint64_t value) {
	char text[NUMBER_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
	put_text(t, text);
}

static void text_put_histogram(struct metrics_text *t, const struct metric *m,
			       const struct metric_sample *s) {
	const struct metric_histogram *h = s->histogram;
	char text[NUMBER_SIZE];

	for (unsigned b = 0; b < h->buckets; b++) {
		metrics_seconds_text(text, h->bounds[b]);
		put_series(t, m, "_bucket", s->labels, text);
		put_integer(t, h->below[b]);
	}
	put_series(t, m, "_bucket", s->labels, "+Inf");
	put_integer(t, h->count);
	put_series(t, m, "_sum", s->labels, NULL);
	metrics_seconds_text(text, h->sum_ns);
	put_text(t, text);
	put_text(t, "\n");
	put_series(t, m, "_count", s->labels, NULL);
	put_integer(t, h->count);
}

void metrics_text_sample(void *arg, const struct metric *m, const struct metric_sample *s) {
	struct metrics_text *t = arg;
	char text[NUMBER_SIZE];

	if (s->histogram != NULL) {
		text_put_histogram(t, m, s);
		return;
	}
	put_series(t, m, "", s->labels, NULL);
	if (!s->real) {
		put_integer(t, s->integer);
		return;
	}
	snprintf(text, sizeof(text), "%.9f\n", s->number);
	put_text(t, text);
}

bool metrics_text_write(struct metrics_text *t, const struct metrics_source *source,
			const struct metrics_selection *selection) {
	const struct metrics_sink sink = {metrics_text_begin, metrics_text_sample, t};

	if (!metrics_walk(source, selection, &sink))
		return false;
	if (t->format == METRICS_OPEN)
		put_text(t, "# EOF\n");
	return !t->failed;
}
