/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/columns.h"

static void exchange(struct scheduler *s, struct cluster *c, uint32_t a, uint32_t b) {
	uint32_t group = c->present[a];

	c->present[a] = c->present[b];
	c->present[b] = group;
	s->groups[c->present[a]].place = a;
	s->groups[group].place = b;
}

/* The last one awake fell asleep or left: those that are left wait for the first of their channels. */
static void cluster_rest(struct scheduler *s, uint32_t cluster) {
	struct cluster *c = &s->clusters[cluster];

	ring_remove(cluster_links(s), &s->working, cluster);
	if (c->present_count > 0)
		wheel_set(&s->wheel, cluster_timer(s, cluster), c->first_free - REST_TICKS);
}

void cluster_wake(struct scheduler *s, uint32_t cluster, int64_t now) {
	struct cluster *c = &s->clusters[cluster];

	c->horizon = now + LEAD_TICKS;
	c->first_free = INT64_MAX;
	if (c->awake_count == 0 && c->present_count > 0)
		ring_append(cluster_links(s), &s->working, cluster);
	c->awake_count = c->present_count;
}

void group_enter(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];

	if (c->present_count == 0)
		cluster_wake(s, g->cluster, s->now);
	if (c->awake_count == 0)
		ring_append(cluster_links(s), &s->working, g->cluster);
	g->place = c->present_count;
	c->present[c->present_count++] = group;
	exchange(s, c, g->place, c->awake_count++);
}

void group_sleep(struct scheduler *s, uint32_t group, int64_t free) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];

	c->first_free = less(c->first_free, free);
	exchange(s, c, g->place, --c->awake_count);
	if (c->awake_count == 0)
		cluster_rest(s, g->cluster);
}

static void group_leave(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];
	bool was_awake = g->place < c->awake_count;

	if (was_awake)
		exchange(s, c, g->place, --c->awake_count);
	exchange(s, c, g->place, --c->present_count);
	if (was_awake && c->awake_count == 0)
		cluster_rest(s, g->cluster);
	if (c->present_count == 0)
		wheel_clear(&s->wheel, cluster_timer(s, g->cluster));
}

/* One that comes back has neither saved anything up nor lost its place: it is not before the last one. */
void column_begin(struct scheduler *s, uint32_t group, unsigned column) {
	struct group *g = &s->groups[group];
	const struct cluster *c = &s->clusters[g->cluster];
	uint64_t last = UINT64_MAX;

	for (uint32_t i = 0; i < c->present_count; i++) {
		const struct group *other = &s->groups[c->present[i]];

		if ((other->waiting >> column & 1) != 0 && other->columns[column].round < last)
			last = other->columns[column].round;
	}
	g->columns[column].turns_left = 1;
	if (last != UINT64_MAX && g->columns[column].round < last)
		g->columns[column].round = last;
	if (g->waiting == 0)
		group_enter(s, group);
	g->waiting |= 1u << column;
}

void column_end(struct scheduler *s, uint32_t group, unsigned column) {
	struct group *g = &s->groups[group];

	g->waiting &= ~(1u << column);
	if (g->waiting == 0)
		group_leave(s, group);
}

/* Groups with channels of their own run ahead of the others; that shall be seen, but not be held against them
 * for long when they have them no more. */
void column_next_round(struct scheduler *s, uint32_t group, unsigned column) {
	const struct cluster *cluster = &s->clusters[s->groups[group].cluster];
	struct column *c = &s->groups[group].columns[column];
	uint64_t lead = MAX_LEAD;

	c->turns_left = c->count;
	c->round++;
	for (uint32_t i = 0; i < cluster->present_count; i++) {
		const struct group *other = &s->groups[cluster->present[i]];
		uint64_t ahead = c->round - other->columns[column].round;

		if (cluster->present[i] == group || (other->waiting >> column & 1) == 0 ||
		    other->columns[column].round > c->round)
			continue;
		if (ahead <= MAX_LEAD)
			return;
		lead = lead == MAX_LEAD || ahead < lead ? ahead : lead;
	}
	c->round -= lead - MAX_LEAD;
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
