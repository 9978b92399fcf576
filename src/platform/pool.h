/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of packet buffers. */
#pragma once

#include <rte_mempool.h>

/*
 * A pool of `count` mbufs (best one less than a power of two) with `private_size` bytes of private
 * area and `room` bytes for headroom and data. The buffer that was freed last is given out first, as
 * it may still be in a cache: the default pool, a ring, goes round through all of the memory. Returns
 * NULL after a message.
 */
struct rte_mempool *packet_pool(const char *name, unsigned count, unsigned private_size,
				unsigned room);
