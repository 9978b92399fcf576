/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/clusters.h"

#include <string.h>

#include "scheduler/columns.h"

void clusters_set_channels(struct scheduler *s, uint32_t group, const struct scheduler_group *set) {
	struct group *g = &s->groups[group];
	bool member[SCHEDULER_MAX_CHANNELS] = {false};

	g->channel_count = (uint32_t)set->channel_count;
	g->run_count = 0;
	for (size_t i = 0; i < set->channel_count; i++)
		member[set->channels[i]] = true;
	for (uint16_t c = 0; c < SCHEDULER_MAX_CHANNELS; c++) {
		if (member[c] && (c == 0 || !member[c - 1]))
			g->runs[g->run_count++] = (struct run){c, 0};
		if (member[c])
			g->runs[g->run_count - 1].count++;
	}
}

/* The group that stands for all that it shares channels with. */
static uint32_t root(struct scheduler *s, uint32_t group) {
	while (s->groups[group].cluster != group)
		group = s->groups[group].cluster;
	return group;
}

static void unite(struct scheduler *s) {
	uint32_t owner[SCHEDULER_MAX_CHANNELS];

	memset(owner, 0xff, sizeof(owner)); /* NONE */
	for (uint32_t g = 0; g < s->group_count; g++)
		s->groups[g].cluster = g;
	for (uint32_t g = 0; g < s->group_count; g++) {
		const struct group *it = &s->groups[g];

		for (uint32_t r = 0; r < it->run_count; r++) {
			for (uint32_t i = 0; i < it->runs[r].count; i++) {
				uint32_t *first = &owner[it->runs[r].from + i];

				if (*first == NONE)
					*first = s->limit.cost != 0 ? 0 : g;
				s->groups[root(s, g)].cluster = root(s, *first);
			}
		}
	}
	for (uint32_t g = 0; g < s->group_count; g++)
		s->groups[g].cluster = root(s, g);
}

/* All that wait enter anew. */
static void enter_all(struct scheduler *s) {
	for (uint32_t i = 0; i < s->group_count; i++) {
		struct group *g = &s->groups[i];

		for (unsigned k = 0; k < COLUMNS; k++)
			g->columns[k].round = 0;
		wheel_clear(&s->wheel, cluster_timer(s, i));
		if (g->waiting != 0)
			group_enter(s, i);
	}
}

void clusters_make(struct scheduler *s) {
	uint32_t *memory = s->present;
	int64_t *ranks = s->ranks;

	unite(s);
	memset(s->clusters, 0, s->group_count * sizeof(*s->clusters));
	s->working = NONE;
	for (uint32_t g = 0; g < s->group_count; g++)
		s->clusters[s->groups[g].cluster].present_count++;
	for (uint32_t i = 0; i < s->group_count; i++) {
		struct cluster *c = &s->clusters[i];

		c->present = memory;
		c->ranks = ranks;
		memory += c->present_count;
		ranks += c->present_count;
		c->present_count = 0;
	}
	enter_all(s);
}
