/* SPDX-License-Identifier: BSD-3-Clause */
/* The class queues of a bonding group, by priority. Members are classes, or flows in the reserved
 * queue; `all` is their array. A member leaves when it is first. */
#pragma once

#include "scheduler/internal.h"
#include "scheduler/order_keys.h"

/* A class queue gets its first member, loses its last, or has served all members of a round. */
void class_queue_begin(struct scheduler *s, uint32_t group, unsigned class_queue);
void class_queue_end(struct scheduler *s, uint32_t group, unsigned class_queue);
void class_queue_next_round(struct scheduler *s, uint32_t group, unsigned class_queue);

/* A group gets its first class queue with members, or loses its last. */
void group_enter(struct scheduler *s, uint32_t group);
void group_leave(struct scheduler *s, uint32_t group);

/* Puts an awake group to sleep: all its channels have work up to the horizon. `free` is when the
 * first is free. */
void group_sleep(struct scheduler *s, uint32_t group, int64_t free);

/* Sets a new horizon for the cluster's channels and wakes all of its groups. */
void cluster_wake(struct scheduler *s, uint32_t cluster, int64_t now);

static inline void class_queue_enter(struct scheduler *s, struct links all, uint32_t group,
				     unsigned class_queue, uint32_t i) {
	struct class_queue *c = &s->groups[group].queues[class_queue];

	line_append(all, &c->line, i);
	if (c->count++ == 0)
		class_queue_begin(s, group, class_queue);
}

/* Removes the first member. It counts as served in this round. */
static inline void class_queue_leave(struct scheduler *s, struct links all, uint32_t group,
				     unsigned class_queue) {
	struct class_queue *c = &s->groups[group].queues[class_queue];

	line_pop(all, &c->line);
	c->count--;
	if (--c->round_left == 0)
		class_queue_next_round(s, group, class_queue);
	if (c->count == 0)
		class_queue_end(s, group, class_queue);
}

/* Moves the first member to the end: it is served for this round. */
static inline void class_queue_rotate(struct scheduler *s, struct links all, uint32_t group,
				      unsigned class_queue) {
	struct class_queue *c = &s->groups[group].queues[class_queue];

	if (c->count > 1)
		line_append(all, &c->line, line_pop(all, &c->line));
	if (--c->round_left == 0)
		class_queue_next_round(s, group, class_queue);
}
