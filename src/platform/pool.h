/* SPDX-License-Identifier: BSD-3-Clause */
/* Mempools of packet buffers. */
#pragma once

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

/* Per-thread cache size of a pool; temporarily up to 1.5 times as many. */
#define POOL_THREAD_BUFFERS 512

/*
 * Creates a pool of `count` mbufs (optimum: a power of two minus one), each with `private_size` bytes of
 * private area and `data_room` bytes of headroom and data. Last in, first out, as the last freed buffer may still
 * be in a CPU cache; DPDK's default, a ring, cycles through all memory. Returns NULL after a message.
 */
struct rte_mempool *packet_pool(const char *name, unsigned count, unsigned private_size,
				unsigned data_room);

/*
 * Prefetches the mbuf that the pool will give the calling thread after the next `ahead`, and the first
 * `bytes` of its data; the private area must be empty. Freed buffers may have left the near caches. Does
 * nothing if the thread has no cache in the pool.
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
