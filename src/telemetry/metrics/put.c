/* SPDX-License-Identifier: BSD-3-Clause */
/* Passes samples of collectors to the sink (walk.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "telemetry/metrics/walk.h"

const char *walk_id(char text[WALK_ID], uint32_t number) {
	snprintf(text, WALK_ID, "%" PRIu32, number);
	return text;
}

double walk_seconds(uint64_t cycles) {
	return (double)cycles / (double)rte_get_tsc_hz();
}

static void put(const struct walk *w, const struct metric_entry *entry, struct metric_sample *s,
		const char *const labels[METRIC_LABELS]) {
	memcpy(s->labels, labels, sizeof(s->labels));
	w->sink->sample(w->sink->arg, &entry->m, s);
}

void walk_put(const struct walk *w, const struct metric_entry *entry, uint64_t value,
	      const char *const labels[METRIC_LABELS]) {
	struct metric_sample s = {.integer = value};

	put(w, entry, &s, labels);
}

void walk_put_real(const struct walk *w, const struct metric_entry *entry, double value,
		   const char *const labels[METRIC_LABELS]) {
	struct metric_sample s = {.real = true, .number = value};

	put(w, entry, &s, labels);
}

void walk_put_histogram(const struct walk *w, const struct metric_entry *entry,
			const struct metric_histogram *h, const char *const labels[METRIC_LABELS]) {
	struct metric_sample s = {.histogram = h};

	put(w, entry, &s, labels);
}
