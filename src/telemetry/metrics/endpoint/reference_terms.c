/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/endpoint/reference_terms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/downstream.h"
#include "upstream/upstream.h"

#define OURS "vcmts_"
#define TERMS_MOST 512

#define DROPPED(sign, reason) sign "downstream_dropped_packets_total{reason=" reason "} "
#define REFUSED(sign)                     \
	DROPPED(sign, "flow_buffer_full") \
	DROPPED(sign, "scheduler_full")   \
	DROPPED(sign, "wred_drop")        \
	DROPPED(sign, "docsis_pie_drop")  \
	DROPPED(sign, "longer_than_burst") DROPPED(sign, "service_flow_removed")
#define LOST(sign, reason) sign "upstream_dropped_total{reason=" reason "} "
#define NOT_L2TP(sign)                  \
	LOST(sign, "outer_runt")        \
	LOST(sign, "outer_chained")     \
	LOST(sign, "not_l2tp")          \
	LOST(sign, "outer_ip_header")   \
	LOST(sign, "outer_ip_length")   \
	LOST(sign, "outer_ip_checksum") \
	LOST(sign, "outer_fragment")    \
	LOST(sign, "outer_address")     \
	LOST(sign, "l2tp_version")      \
	LOST(sign, "l2tp_truncated") LOST(sign, "l2tp_control") LOST(sign, "unknown_session")
#define HEADERS(sign)                           \
	sign "upstream_bursts_total " OPPOSITE( \
		sign) "1*upstream_dropped_total{reason=burst_headless} "
#define OPPOSITE(sign) "-" sign
#define TRAILERS(sign)                                                                             \
	sign "upstream_segments_total " sign "upstream_no_bursts_total " LOST(sign, "unknown_sid") \
		LOST(sign, "burst_trailer")
#define RECORDS(sign) sign "requests_total{kind=record} "
#define CYCLES "stage_cycles_total"
#define DOWN_CYCLES(part)                                         \
	REFERENCE("downstream_downstream_cycles_" part, RATIO,    \
		  CYCLES "{direction=downstream,stage=" part "}", \
		  "downstream_received_packets_total")
#define UP_CYCLES(part)                                         \
	REFERENCE("upstream_upstream_cycles_" part, RATIO,      \
		  CYCLES "{direction=upstream,stage=" part "}", \
		  "upstream_transmitted_packets_total")

const struct reference_row reference_table[] = {
#define REFERENCE(name, kind, of, per) {name, REFERENCE_##kind, of, per},
#include "telemetry/metrics/endpoint/reference.def"
};
const unsigned reference_count = sizeof(reference_table) / sizeof(reference_table[0]);

static bool word_take(const char **text, const char *ends, char word[TERM_WORD]) {
	size_t size = strcspn(*text, ends);

	if (size == 0 || size >= TERM_WORD)
		return false;
	memcpy(word, *text, size);
	word[size] = '\0';
	*text += size;
	return true;
}

static bool labels_take(const char **text, struct reference_term *t) {
	if (**text != '{')
		return true;
	do {
		(*text)++;
		if (t->label_count == TERM_LABELS ||
		    !word_take(text, "=", t->labels[t->label_count].name))
			return false;
		(*text)++;
		if (!word_take(text, ",}", t->labels[t->label_count++].value))
			return false;
	} while (**text == ',');
	return *(*text)++ == '}';
}

/* Of a histogram its sum or count, which are no metrics of their own. */
static void part_find(struct reference_term *t) {
	static const char *const ends[] = {[TERM_SUM] = "_sum", [TERM_COUNT] = "_count"};

	for (unsigned part = TERM_SUM; part <= TERM_COUNT; part++) {
		size_t size = strlen(t->metric), end = strlen(ends[part]);

		if (size <= end || strcmp(t->metric + size - end, ends[part]) != 0)
			continue;
		t->metric[size - end] = '\0';
		t->part = part;
		return;
	}
}

static bool term_take(const char **text, struct reference_term *t) {
	char name[TERM_WORD];

	t->factor = 1;
	for (; **text == '-'; (*text)++)
		t->factor = -t->factor;
	if (isdigit((unsigned char)**text)) {
		char *end;

		t->factor *= (double)strtoul(*text, &end, 10);
		*text = end + 1; /* the asterisk */
	}
	if (!word_take(text, " {", name) ||
	    (size_t)snprintf(t->metric, TERM_WORD, OURS "%s", name) >= TERM_WORD)
		return false;
	part_find(t);
	return labels_take(text, t);
}

/* All terms, as they are found. */
struct terms {
	struct reference_term *all;
	unsigned count;
	bool full;
};

static void terms_add(struct terms *terms, const struct reference_term *t) {
	if (terms->count == TERMS_MOST)
		terms->full = true;
	else
		terms->all[terms->count++] = *t;
}

/* In place of a part of the reference system, the stages that it has there. */
static void stages_add(struct terms *terms, const struct reference_term *part,
		       const struct stage_list *lists, unsigned list_count) {
	for (unsigned l = 0; l < list_count; l++) {
		for (unsigned s = 0; s < lists[l].count; s++) {
			const struct stage *stage = &lists[l].stages[s];
			struct reference_term t = *part;

			if (stage->reference == NULL ||
			    strcmp(stage->reference, part->labels[1].value) != 0)
				continue;
			snprintf(t.labels[1].value, TERM_WORD, "%s", stage->name);
			terms_add(terms, &t);
		}
	}
}

static bool sum_take(const char *text, unsigned row, bool per, struct terms *terms) {
	for (;;) {
		struct reference_term t = {.row = row, .per = per};

		text += strspn(text, " ");
		if (*text == '\0')
			return !terms->full;
		if (!term_take(&text, &t))
			return false;
		if (strcmp(t.metric, OURS CYCLES) != 0)
			terms_add(terms, &t);
		else if (strcmp(t.labels[0].value, "downstream") == 0)
			stages_add(terms, &t, ds_lists, DS_PIPELINES);
		else
			stages_add(terms, &t, us_lists, US_PIPELINES);
	}
}

struct reference_term *reference_terms(unsigned *count) {
	struct terms terms = {.all = calloc(TERMS_MOST, sizeof(*terms.all))};
	bool good = terms.all != NULL;

	for (unsigned row = 0; good && row < reference_count; row++)
		good = sum_take(reference_table[row].of, row, false, &terms) &&
		       sum_take(reference_table[row].per, row, true, &terms);
	*count = terms.count;
	if (good)
		return terms.all;
	free(terms.all);
	return NULL;
}

bool reference_term_takes(const struct reference_term *t, const struct metric *m,
			  const struct metric_sample *s) {
	for (unsigned i = 0; i < t->label_count; i++) {
		unsigned l = 0;

		while (l < METRIC_LABELS && m->labels[l] != NULL &&
		       strcmp(m->labels[l], t->labels[i].name) != 0)
			l++;
		if (l == METRIC_LABELS || m->labels[l] == NULL ||
		    strcmp(s->labels[l], t->labels[i].value) != 0)
			return false;
	}
	return true;
}
