/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/order_keys.h"

/* Not inline: used with many groups only, and kept out of the common path. */
void block_set_key(struct cluster *c, uint32_t block) {
	c->min[block] = run_free(&c->keys[block * KEY_BLOCK], KEY_BLOCK, INT64_MIN);
}
