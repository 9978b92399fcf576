/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

const char *walk_id(char text[WALK_ID], uint32_t number) {
	snprintf(text, WALK_ID, "%" PRIu32, number);
	return text;
}

double walk_seconds(uint64_t cycles) {
	return (double)cycles / (double)rte_get_tsc_hz();
}

static void put(const struct walk *w, const struct metric_row *row, struct metric_sample *s,
		const char *const labels[METRIC_LABELS]) {
	memcpy(s->labels, labels, sizeof(s->labels));
	w->sink->sample(w->sink->arg, &row->m, s);
}

void walk_put(const struct walk *w, const struct metric_row *row, uint64_t value,
	      const char *const labels[METRIC_LABELS]) {
	struct metric_sample s = {.integer = value};

	put(w, row, &s, labels);
}

void walk_put_real(const struct walk *w, const struct metric_row *row, double value,
		   const char *const labels[METRIC_LABELS]) {
	struct metric_sample s = {.real = true, .number = value};

	put(w, row, &s, labels);
}

void walk_put_histogram(const struct walk *w, const struct metric_row *row,
			const struct metric_histogram *h, const char *const labels[METRIC_LABELS]) {
	struct metric_sample s = {.histogram = h};

	put(w, row, &s, labels);
}

static bool name_is_wanted(const struct metrics_selection *s, const char *name) {
	if (s->names == NULL)
		return true;
	for (unsigned i = 0; i < s->name_count; i++) {
		if (strncmp(name, s->names[i], strlen(s->names[i])) == 0)
			return true;
	}
	return false;
}

static bool row_is_wanted(const struct metrics_selection *s, const struct metric_row *row) {
	switch (row->wanted) {
	case ROW_PLAIN:
		if (s->group != 0)
			return false;
		break;
	case ROW_OF_GROUP: break;
	case ROW_OF_MODEM:
		if (!s->modems && s->modem == NULL)
			return false;
		break;
	case ROW_OF_FLOW:
		if (!s->flows)
			return false;
		break;
	}
	return name_is_wanted(s, row->m.name);
}

/* Counters are read here, all of a group at one time. */
static void groups_read(struct walk *w, const struct server *s, uint32_t wanted) {
	for (unsigned g = 0; g < s->group_count; g++) {
		const struct served_group *served = &s->groups[g];
		struct walk_group *group = &w->groups[w->group_count];

		if (!served->there || (wanted != 0 && served->sg->id != wanted))
			continue;
		group->served = served;
		walk_id(group->id, served->sg->id);
		downstream_counters(served->downstream, &group->down);
		if (served->upstream != NULL)
			group->up = served->upstream->counters;
		w->group_count++;
	}
}

static void rows_visit(const struct walk *w) {
	unsigned count;
	const struct metric_row *rows = metric_rows(&count);

	for (unsigned r = 0; r < count; r++) {
		if (!row_is_wanted(w->selection, &rows[r]))
			continue;
		if (w->sink->begin != NULL)
			w->sink->begin(w->sink->arg, &rows[r].m);
		rows[r].collect(w, &rows[r]);
	}
}

bool metrics_walk(const struct metrics_source *source, const struct metrics_selection *selection,
		  const struct metrics_sink *sink) {
	struct walk w = {.source = source, .selection = selection, .sink = sink};
	struct server *s = source->server;
	size_t size;

	pthread_rwlock_rdlock(&s->lock);
	size = RTE_MAX(s->group_count, 1u) * sizeof(*w.groups);
	w.groups = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
	if (w.groups != NULL) {
		groups_read(&w, s, selection->group);
		rows_visit(&w);
	}
	pthread_rwlock_unlock(&s->lock);
	free(w.groups);
	return w.groups != NULL;
}
