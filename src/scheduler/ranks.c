/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/ranks.h"

/* Only where groups are many, and out of the way of the others: not inline. */
void block_rank(struct cluster *c, uint32_t block) {
	c->least[block] = run_free(&c->ranks[block * RANK_BLOCK], RANK_BLOCK, INT64_MIN);
}
