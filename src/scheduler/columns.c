/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/columns.h"

/* Where the group comes among those of its cluster. */
static void rank(struct scheduler *s, uint32_t group) {
	const struct group *g = &s->groups[group];
	uint32_t column = highest(g->waiting);

	s->clusters[g->cluster].ranks[g->place] =
		(int64_t)((uint64_t)(RESERVED - column) << RANK_COLUMN |
			  g->columns[column].round << RANK_ROUND | g->place);
}

static void exchange(struct scheduler *s, struct cluster *c, uint32_t a, uint32_t b) {
	uint32_t group = c->present[a];

	c->present[a] = c->present[b];
	c->present[b] = group;
	s->groups[c->present[a]].place = a;
	s->groups[group].place = b;
	rank(s, c->present[a]);
	rank(s, group);
}

/* The last one awake fell asleep or left: those that are left wait for the first of their
 * channels. */
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

/* The column in which another of the cluster's groups waits, too; NULL where that is not so. */
static struct column *rival(struct scheduler *s, const struct cluster *c, uint32_t place,
			    unsigned column) {
	struct group *g = &s->groups[c->present[place]];

	return (g->waiting >> column & 1) != 0 ? &g->columns[column] : NULL;
}

/* One that comes back has neither saved much up nor been forgotten. */
static void find_place(const struct cluster *cluster, unsigned column, struct column *c) {
	uint64_t served = cluster->served[column];

	if (c->round > served + MAX_LEAD)
		c->round = served + MAX_LEAD;
	else if (c->round + MAX_LEAD < served)
		c->round = served - MAX_LEAD;
}

void column_begin(struct scheduler *s, uint32_t group, unsigned column) {
	struct group *g = &s->groups[group];
	struct column *c = &g->columns[column];
	bool enters = g->waiting == 0;

	find_place(&s->clusters[g->cluster], column, c);
	c->turns_left = 1;
	g->waiting |= 1u << column;
	if (enters)
		group_enter(s, group);
	else
		rank(s, group);
}

void column_end(struct scheduler *s, uint32_t group, unsigned column) {
	struct group *g = &s->groups[group];

	if (g->waiting == 1u << column)
		group_leave(s, group);
	g->waiting &= ~(1u << column);
	if (g->waiting != 0)
		rank(s, group);
}

/* The least round above `round`, or from it on; UINT64_MAX where there is none. */
static uint64_t next_above(struct scheduler *s, const struct cluster *c, unsigned column,
			   uint64_t round) {
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < c->present_count; i++) {
		const struct column *other = rival(s, c, i, column);

		if (other != NULL && other->round >= round && other->round < next)
			next = other->round;
	}
	return next;
}

/*
 * Groups with channels of their own run ahead of the others without end. Who is ahead of whom is
 * to be known, but a lead shall not be held against a group for long when it has those channels
 * no more: of each gap between two groups MAX_LEAD is left, and all that are above it come down
 * together.
 */
static void cut_leads(struct scheduler *s, struct cluster *c, unsigned column) {
	uint64_t below = next_above(s, c, column, 0), next;

	c->far_ahead[column] = below + (uint64_t)2 * MAX_LEAD * c->present_count;
	while ((next = next_above(s, c, column, below + 1)) != UINT64_MAX) {
		uint64_t excess = next - below > MAX_LEAD ? next - below - MAX_LEAD : 0;

		for (uint32_t i = 0; excess > 0 && i < c->present_count; i++) {
			struct column *other = rival(s, c, i, column);

			if (other != NULL && other->round >= next)
				other->round -= excess;
		}
		below = next - excess;
	}
	for (uint32_t i = 0; i < c->present_count; i++)
		rank(s, c->present[i]);
}

/* Rounds begin anew, by and large where they were. */
static void rounds_rebase(struct scheduler *s, struct cluster *c, unsigned column) {
	for (uint32_t i = 0; i < s->group_count; i++) {
		uint64_t *round = &s->groups[i].columns[column].round;

		if (&s->clusters[s->groups[i].cluster] == c)
			*round -= *round < MAX_ROUND / 2 ? *round : MAX_ROUND / 2;
	}
	c->served[column] -= c->served[column] < MAX_ROUND / 2 ? c->served[column] : MAX_ROUND / 2;
}

void column_next_round(struct scheduler *s, uint32_t group, unsigned column) {
	struct cluster *cluster = &s->clusters[s->groups[group].cluster];
	struct column *c = &s->groups[group].columns[column];

	c->turns_left = c->count;
	c->round++;
	if (c->round > MAX_ROUND)
		rounds_rebase(s, cluster, column);
	if (c->round > cluster->far_ahead[column])
		cut_leads(s, cluster, column);
	else
		rank(s, group);
}
