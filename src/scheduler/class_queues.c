/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/class_queues.h"

#include "scheduler/channels.h"
#include "scheduler/leads.h"
#include "scheduler/order_keys.h"

static void slots_swap(struct scheduler *s, struct cluster *c, uint32_t a, uint32_t b) {
	uint32_t group = c->present[a];

	if (a == b)
		return;
	c->present[a] = c->present[b];
	c->present[b] = group;
	s->groups[c->present[a]].slot = a;
	s->groups[group].slot = b;
	group_set_key(s, c->present[a]);
	group_set_key(s, group);
}

/* Stops serving the cluster when no group is awake. A timer wakes it when the first channel is
 * nearly free. */
static void cluster_sleep(struct scheduler *s, uint32_t cluster) {
	struct cluster *c = &s->clusters[cluster];

	ring_remove(cluster_links(s), &s->working, cluster);
	if (c->present_count > 0)
		wheel_set(&s->wheel, cluster_timer(s, cluster), c->first_free - WAKE_TICKS);
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
	g->slot = c->present_count;
	c->present[c->present_count++] = group;
	group_set_key(s, group);
	slots_swap(s, c, g->slot, c->awake_count++);
}

void group_sleep(struct scheduler *s, uint32_t group, int64_t free) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];

	c->first_free = less(c->first_free, free);
	slots_swap(s, c, g->slot, --c->awake_count);
	if (c->awake_count == 0)
		cluster_sleep(s, g->cluster);
}

void group_leave(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];
	struct cluster *c = &s->clusters[g->cluster];
	bool was_awake = g->slot < c->awake_count;

	if (was_awake)
		slots_swap(s, c, g->slot, --c->awake_count);
	slots_swap(s, c, g->slot, --c->present_count);
	if (was_awake && c->awake_count == 0)
		cluster_sleep(s, g->cluster);
	if (c->present_count == 0)
		wheel_clear(&s->wheel, cluster_timer(s, g->cluster));
}

/* Limits the lead and the lag of a group that competes again to MAX_LEAD rounds. */
static void class_queue_clamp(const struct cluster *cluster, unsigned class_queue,
			      struct class_queue *c) {
	uint64_t served = cluster->served[class_queue];

	if (c->round > served + MAX_LEAD)
		c->round = served + MAX_LEAD;
	else if (c->round + MAX_LEAD < served)
		c->round = served - MAX_LEAD;
}

void class_queue_begin(struct scheduler *s, uint32_t group, unsigned class_queue) {
	struct group *g = &s->groups[group];
	struct class_queue *c = &g->queues[class_queue];
	bool enters = g->waiting == 0;

	class_queue_clamp(&s->clusters[g->cluster], class_queue, c);
	if (s->reducing)
		leads_enter(s, group, class_queue);
	s->clusters[g->cluster].waiting[class_queue]++;
	c->round_left = 1;
	g->waiting |= 1u << class_queue;
	if (enters)
		group_enter(s, group);
	else
		group_set_key(s, group);
}

void class_queue_end(struct scheduler *s, uint32_t group, unsigned class_queue) {
	struct group *g = &s->groups[group];

	if (g->waiting == 1u << class_queue)
		group_leave(s, group);
	g->waiting &= ~(1u << class_queue);
	s->clusters[g->cluster].waiting[class_queue]--;
	if (g->waiting != 0)
		group_set_key(s, group);
}

void class_queue_next_round(struct scheduler *s, uint32_t group, unsigned class_queue) {
	const uint32_t cluster = s->groups[group].cluster;
	struct class_queue *c = &s->groups[group].queues[class_queue];

	if (s->reducing)
		leads_apply(s, group, class_queue);
	c->round_left = c->count;
	c->round++;
	if (c->round > s->clusters[cluster].far_ahead[class_queue])
		leads_reduce(s, cluster, class_queue);
	if (c->count > 0) /* else the class queue ends, and with it perhaps the group's slot */
		group_set_key(s, group);
}
