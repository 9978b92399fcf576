/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The columns of a bonding group: who waits for its channels, by priority. The members are
 * classes, or flows in the reserved column; `all` says of which array. They leave when they are
 * first.
 */
#pragma once

#include "scheduler/internal.h"
#include "scheduler/ranks.h"

/* A column gets its first member, loses its last, or has given all of them their turns. */
void column_begin(struct scheduler *s, uint32_t group, unsigned column);
void column_end(struct scheduler *s, uint32_t group, unsigned column);
void column_next_round(struct scheduler *s, uint32_t group, unsigned column);

/* A group that had nobody waiting has somebody, or the other way round. */
void group_enter(struct scheduler *s, uint32_t group);
void group_leave(struct scheduler *s, uint32_t group);

/* All channels of an awake group have work up to the horizon; the first will be free at `free`. */
void group_sleep(struct scheduler *s, uint32_t group, int64_t free);

/* Channels of the cluster are given work up to a new horizon; all of its groups compete for
 * them. */
void cluster_wake(struct scheduler *s, uint32_t cluster, int64_t now);

static inline void column_enter(struct scheduler *s, struct links all, uint32_t group,
				unsigned column, uint32_t i) {
	struct column *c = &s->groups[group].columns[column];

	line_append(all, &c->line, i);
	if (c->count++ == 0)
		column_begin(s, group, column);
}

/* The first leaves; so it has had its turn. */
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

/* The first has had its turn and goes behind the others. */
static inline void column_pass(struct scheduler *s, struct links all, uint32_t group,
			       unsigned column) {
	struct column *c = &s->groups[group].columns[column];

	if (c->count > 1)
		line_append(all, &c->line, line_pop(all, &c->line));
	if (--c->turns_left == 0)
		column_next_round(s, group, column);
}
