/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The class queues of a bonding group, by priority. Members are classes, or flows in the reserved
 * queue; `all` is their array. A member leaves when it is first.
 */
#pragma once

#include "scheduler/internal.h"
#include "scheduler/ranks.h"

/* A class queue gets its first member, loses its last, or has served all members of a round. */
void column_begin(struct scheduler *s, uint32_t group, unsigned column);
void column_end(struct scheduler *s, uint32_t group, unsigned column);
void column_next_round(struct scheduler *s, uint32_t group, unsigned column);

/* A group gets its first class queue with members, or loses its last. */
void group_enter(struct scheduler *s, uint32_t group);
void group_leave(struct scheduler *s, uint32_t group);

/* Puts an awake group to sleep: all its channels have work up to the horizon. `free` is when the
 * first is free. */
void group_sleep(struct scheduler *s, uint32_t group, int64_t free);

/* Sets a new horizon for the cluster's channels and wakes all of its groups. */
void cluster_wake(struct scheduler *s, uint32_t cluster, int64_t now);

static inline void column_enter(struct scheduler *s, struct links all, uint32_t group,
				unsigned column, uint32_t i) {
	struct column *c = &s->groups[group].columns[column];

	line_append(all, &c->line, i);
	if (c->count++ == 0)
		column_begin(s, group, column);
}

/* Removes the first member. It counts as served in this round. */
static inline void column_leave(struct scheduler *s, struct links all, uint32_t group,
				unsigned column) {
	struct column *c = &s->groups[group].columns[column];

	line_pop(all, &c->line);
	c->count--;
	if (--c->turns_left == 0)
		column_next_round(s, group, column);
	if (c->count == 0)
		column_end(s, group, column);
}

/* Moves the first member to the end: it is served for this round. */
static inline void column_pass(struct scheduler *s, struct links all, uint32_t group,
			       unsigned column) {
	struct column *c = &s->groups[group].columns[column];

	if (c->count > 1)
		line_append(all, &c->line, line_pop(all, &c->line));
	if (--c->turns_left == 0)
		column_next_round(s, group, column);
}
