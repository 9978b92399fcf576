/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of the groups that compete for channels: by column, then by round. */
#pragma once

#include "scheduler/channels.h"
#include "scheduler/internal.h"

/* The highest of the columns that are waiting. */
static inline uint32_t highest(uint32_t waiting) {
	return 31u - (uint32_t)__builtin_clz(waiting);
}

/* The least rank of a block is another. */
void block_rank(struct cluster *c, uint32_t block);

/* The place has another rank. Blocks that are not whole are looked through when one is chosen. */
static inline void place_rank(struct cluster *c, uint32_t place, int64_t rank) {
	c->ranks[place] = rank;
	if ((place | (RANK_BLOCK - 1)) < c->present_count)
		block_rank(c, place / RANK_BLOCK);
}

/* The group's place in the order has changed. */
static inline void group_rank(struct scheduler *s, uint32_t group) {
	const struct group *g = &s->groups[group];
	uint32_t column = highest(g->waiting);

	place_rank(&s->clusters[g->cluster], g->place,
		   (int64_t)((uint64_t)(RESERVED - column) << RANK_COLUMN |
			     g->columns[column].round << RANK_ROUND | g->place));
}
