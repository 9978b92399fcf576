/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/columns.h"

#include "scheduler/channels.h"
#include "scheduler/leads.h"
#include "scheduler/ranks.h"

static void places_exchange(struct scheduler *s, struct cluster *c, uint32_t a, uint32_t b) {
	uint32_t group = c->present[a];

	if (a == b)
		return;
	c->present[a] = c->present[b];
	c->present[b] = group;
	s->groups[c->present[a]].place = a;
	s->groups[group].place = b;
	group_rank(s, c->present[a]);
	group_rank(s, group);
}

/* Stops serving the cluster when no group is awake. A timer wakes it when the first channel is
 * nearly free. */
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
	group_rank(s, group);
	places_exchange(s, c, g->place, c->awake_count++);
}

void group_sleep(struct scheduler *s, uint32_t group, int64_t free) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];

	c->first_free = less(c->first_free, free);
	places_exchange(s, c, g->place, --c->awake_count);
	if (c->awake_count == 0)
		cluster_rest(s, g->cluster);
}

void group_leave(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];
	bool was_awake = g->place < c->awake_count;

	if (was_awake)
		places_exchange(s, c, g->place, --c->awake_count);
	places_exchange(s, c, g->place, --c->present_count);
	if (was_awake && c->awake_count == 0)
		cluster_rest(s, g->cluster);
	if (c->present_count == 0)
		wheel_clear(&s->wheel, cluster_timer(s, g->cluster));
}

/* Limits the lead and the lag of a group that competes again to MAX_LEAD rounds. */
static void column_find_place(const struct cluster *cluster, unsigned column, struct column *c) {
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

	column_find_place(&s->clusters[g->cluster], column, c);
	if (s->cutting)
		leads_enter(s, group, column);
	s->clusters[g->cluster].waiting[column]++;
	c->turns_left = 1;
	g->waiting |= 1u << column;
	if (enters)
		group_enter(s, group);
	else
		group_rank(s, group);
}

void column_end(struct scheduler *s, uint32_t group, unsigned column) {
	struct group *g = &s->groups[group];

	if (g->waiting == 1u << column)
		group_leave(s, group);
	g->waiting &= ~(1u << column);
	s->clusters[g->cluster].waiting[column]--;
	if (g->waiting != 0)
		group_rank(s, group);
}

void column_next_round(struct scheduler *s, uint32_t group, unsigned column) {
	const uint32_t cluster = s->groups[group].cluster;
	struct column *c = &s->groups[group].columns[column];

	if (s->cutting)
		leads_tell(s, group, column);
	c->turns_left = c->count;
	c->round++;
	if (c->round > s->clusters[cluster].far_ahead[column])
		leads_cut(s, cluster, column);
	if (c->count > 0) /* else the class queue ends, and with it perhaps the group's slot */
		group_rank(s, group);
}
