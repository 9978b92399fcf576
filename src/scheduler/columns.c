/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/columns.h"

void group_awake(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];

	if (c->awake_count == 0)
		ring_append(cluster_links(s), &s->working, g->cluster);
	g->place = c->awake_count;
	c->awake[c->awake_count++] = group;
}

void group_asleep(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];
	uint32_t last = c->awake[--c->awake_count];

	c->awake[g->place] = last;
	s->groups[last].place = g->place;
	g->place = NONE;
	if (c->awake_count == 0)
		ring_remove(cluster_links(s), &s->working, g->cluster);
}

void column_begin(struct scheduler *s, uint32_t group, unsigned column) {
	struct group *g = &s->groups[group];

	g->columns[column].turns_left = 1;
	g->columns[column].round = s->clusters[g->cluster].rounds[column];
	if (g->waiting == 0)
		group_awake(s, group);
	g->waiting |= 1u << column;
}

void column_end(struct scheduler *s, uint32_t group, unsigned column) {
	struct group *g = &s->groups[group];

	g->waiting &= ~(1u << column);
	if (g->waiting != 0)
		return;
	if (g->place != NONE)
		group_asleep(s, group);
	else
		wheel_clear(&s->wheel, group_timer(s, group));
}

void column_next_round(struct scheduler *s, uint32_t group, unsigned column) {
	const struct group *g = &s->groups[group];
	struct column *c = &s->groups[group].columns[column];
	uint32_t *furthest = &s->clusters[g->cluster].rounds[column];

	c->turns_left = c->count;
	c->round++;
	if ((int32_t)(*furthest - c->round) > MAX_LAG)
		c->round = *furthest - MAX_LAG;
	else if ((int32_t)(c->round - *furthest) > 0)
		*furthest = c->round;
}

void column_pull(struct links all, struct column *c, uint32_t i) {
	uint32_t before = c->line.first;

	if (before == i)
		return;
	while (link_of(all, before)->next != i)
		before = link_of(all, before)->next;
	if (c->line.last == i) {
		c->line.last = before;
		link_of(all, before)->next = before;
	} else {
		link_of(all, before)->next = link_of(all, i)->next;
	}
	link_of(all, i)->next = c->line.first;
	c->line.first = i;
}
