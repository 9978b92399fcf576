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
void block_set_key(struct cluster *c, uint32_t block);

/* Sets the key of a slot. Incomplete blocks are searched by min_key(). */
static inline void slot_set_key(struct cluster *c, uint32_t slot, int64_t key) {
	c->keys[slot] = key;
	if ((slot | (KEY_BLOCK - 1)) < c->present_count)
		block_set_key(c, slot / KEY_BLOCK);
}

/* Updates the group's order key. */
static inline void group_set_key(struct scheduler *s, uint32_t group) {
	const struct group *g = &s->groups[group];
	uint32_t class_queue = highest(g->waiting);

	slot_set_key(&s->clusters[g->cluster], g->slot,
		     (int64_t)((uint64_t)(RESERVED - class_queue) << KEY_QUEUE |
			       g->queues[class_queue].round << KEY_ROUND | g->slot));
}
