/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/metrics/walk.h"

#include <stdlib.h>
#include <string.h>

static bool name_is_wanted(const struct metrics_selection *s, const char *name) {
	if (s->names == NULL)
		return true;
	for (unsigned i = 0; i < s->name_count; i++) {
		if (strncmp(name, s->names[i], strlen(s->names[i])) == 0)
			return true;
	}
	return false;
}

static bool entry_is_wanted(const struct metrics_selection *s, const struct metric_entry *entry) {
	switch (entry->wanted) {
	case SCOPE_PLAIN:
		if (s->group != 0)
			return false;
		break;
	case SCOPE_OF_GROUP: break;
	case SCOPE_OF_MODEM:
		if (!s->modems && s->modem == NULL)
			return false;
		break;
	case SCOPE_OF_FLOW:
		if (!s->flows)
			return false;
		break;
	}
	return name_is_wanted(s, entry->m.name);
}

/* Reads all counters of a group at one time. */
static void groups_read(struct walk *w, const struct server *s, uint32_t wanted) {
	for (unsigned g = 0; g < s->group_count; g++) {
		const struct served_group *served = &s->groups[g];
		struct walk_group *group = &w->groups[w->group_count];

		if (!served->in_service || (wanted != 0 && served->sg->id != wanted))
			continue;
		group->served = served;
		group->number = served->sg->id;
		walk_id(group->id, served->sg->id);
		downstream_counters(served->downstream, &group->down);
		if (served->upstream != NULL)
			group->up = served->upstream->counters;
		w->group_count++;
	}
}

void walk_pause(const struct walk *w) {
	pthread_rwlock_t *lock = &w->source->server->lock;

	pthread_rwlock_unlock(lock);
	pthread_rwlock_rdlock(lock);
}

bool walk_has(const struct walk_group *g) {
	return g->served->in_service && g->served->sg->id == g->number;
}

/* Groups that were removed during a pause are not visited any more. */
static void groups_forget(struct walk *w) {
	unsigned kept = 0;

	for (unsigned g = 0; g < w->group_count; g++) {
		if (!walk_has(&w->groups[g]))
			continue;
		if (kept != g)
			w->groups[kept] = w->groups[g];
		kept++;
	}
	w->group_count = kept;
}

static void entries_visit(struct walk *w) {
	unsigned count;
	const struct metric_entry *entries = metric_entries(&count);

	for (unsigned r = 0; r < count; r++) {
		if (!entry_is_wanted(w->selection, &entries[r]) ||
		    (w->sink->visit != NULL && !w->sink->visit(w->sink->arg, r)))
			continue;
		if (w->sink->begin != NULL)
			w->sink->begin(w->sink->arg, &entries[r].m);
		entries[r].collect(w, &entries[r]);
		walk_pause(w);
		groups_forget(w);
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
		entries_visit(&w);
	}
	pthread_rwlock_unlock(&s->lock);
	free(w.groups);
	return w.groups != NULL;
}
