/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of packet buffers. */
#pragma once

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

/* What a thread keeps for itself of each pool; up to half as many more for a while. */
#define POOL_THREAD_BUFFERS 512

/*
 * A pool of `count` mbufs (best one less than a power of two) with `private_size` bytes of private
 * area and `room` bytes for headroom and data. The buffer that was freed last is given out first, as
 * it may still be in a cache: the default pool, a ring, goes round through all of the memory. Returns
 * NULL after a message.
 */
struct rte_mempool *packet_pool(const char *name, unsigned count, unsigned private_size,
				unsigned room);

/*
 * Fetches into the cache the mbuf that the calling thread is given by the pool after the next `ahead`,
 * and the first `bytes` of its data (the pool's private area must be of no bytes). What a pool gives out
 * was freed a while ago and waits in a cache farther off. A hint: it does nothing where the thread has
 * no store of its own from which the pool serves it.
 */
static inline void pool_prefetch(struct rte_mempool *pool, unsigned ahead, unsigned bytes) {
	const struct rte_mempool_cache *own = rte_mempool_default_cache(pool, rte_lcore_id());
	const struct rte_mbuf *m;

	if (own == NULL || own->len <= ahead)
		return;
	m = own->objs[own->len - 1 - ahead];
	rte_prefetch0(m);
	rte_prefetch0((const uint8_t *)m + RTE_CACHE_LINE_SIZE);
	for (unsigned at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0((const uint8_t *)(m + 1) + RTE_PKTMBUF_HEADROOM + at);
}
