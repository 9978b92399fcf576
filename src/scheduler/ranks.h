/* SPDX-License-Identifier: BSD-3-Clause */
/* Order keys: the order of groups that compete for channels, by class queue, then by round. */
#pragma once

#include "scheduler/channels.h"
#include "scheduler/internal.h"

/* The highest class queue with members. */
static inline uint32_t highest(uint32_t waiting) {
	return 31u - (uint32_t)__builtin_clz(waiting);
}

/* Updates the least key of a block. */
void block_rank(struct cluster *c, uint32_t block);

/* Sets the key of a slot. Incomplete blocks are searched by least_rank(). */
static inline void place_rank(struct cluster *c, uint32_t place, int64_t rank) {
	c->ranks[place] = rank;
	if ((place | (RANK_BLOCK - 1)) < c->present_count)
		block_rank(c, place / RANK_BLOCK);
}

/* Updates the group's order key. */
static inline void group_rank(struct scheduler *s, uint32_t group) {
	const struct group *g = &s->groups[group];
	uint32_t column = highest(g->waiting);

	place_rank(&s->clusters[g->cluster], g->place,
		   (int64_t)((uint64_t)(RESERVED - column) << RANK_COLUMN |
			     g->columns[column].round << RANK_ROUND | g->place));
}
