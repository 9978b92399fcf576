/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/ranks.h"

/* Not inline: used with many groups only, and kept out of the common path. */
void block_rank(struct cluster *c, uint32_t block) {
	c->least[block] = run_free(&c->ranks[block * RANK_BLOCK], RANK_BLOCK, INT64_MIN);
}
