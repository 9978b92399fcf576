/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "platform/large_pages.h"
#include "platform/log/log.h"
#include "platform/platform.h"

#define CACHE POOL_THREAD_BUFFERS

/*
 * On ordinary pages, a mempool lets no buffer cross a page boundary: each buffer has its own page and the
 * same offset in it. The lanes of the crypto library, which process 16 packets at a time, would then compete
 * for few sets of the L1 cache. Where no NIC needs IOVA-contiguous buffers, they are packed as on large
 * pages. Mempools make their distance an odd number of cache lines, which spreads them over all sets.
 */
static unsigned flags(void) {
	bool large = platform_has_huge_pages() || large_pages_socket() != SOCKET_ID_ANY;

	return large || platform_has_pci() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
}

static void unmap(struct rte_mempool_memhdr *memory, void *arg) {
	(void)arg;
	munmap(memory->addr, memory->len);
}

/* A short-lived process would spend most of its time on page faults of ordinary pages. Returns
 * false if the pool still has no memory. */
static bool populate_large(struct rte_mempool *pool) {
	size_t buffer = pool->header_size + pool->elt_size + pool->trailer_size;
	size_t size = pool->size * buffer + RTE_CACHE_LINE_SIZE;
	void *memory;

	if (!platform_is_offline() || platform_has_huge_pages())
		return false;
	memory = large_pages_map(size);
	if (memory == NULL)
		return false;
	if (rte_mempool_populate_iova(pool, memory, RTE_BAD_IOVA, size, unmap, NULL) > 0)
		return true;
	munmap(memory, size);
	return false;
}

static struct rte_mempool *pool_create(const char *name, unsigned count, unsigned private_size,
				       unsigned data_room, const char *driver) {
	struct rte_pktmbuf_pool_private sizes = {
		.mbuf_data_room_size = (uint16_t)data_room,
		.mbuf_priv_size = (uint16_t)private_size,
	};
	struct rte_mempool *pool = rte_mempool_create_empty(
		name, count, (unsigned)sizeof(struct rte_mbuf) + private_size + data_room, CACHE,
		sizeof(sizes), large_pages_socket(), flags());
	int ret;

	if (pool == NULL)
		return NULL;
	ret = rte_mempool_set_ops_byname(pool, driver, NULL);
	if (ret == 0) {
		rte_pktmbuf_pool_init(pool, &sizes);
		ret = populate_large(pool) ? 0 : rte_mempool_populate_default(pool);
	}
	if (ret < 0) {
		rte_mempool_free(pool);
		rte_errno = -ret;
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

struct rte_mempool *packet_pool(const char *name, unsigned count, unsigned private_size,
				unsigned data_room) {
	static const char *const drivers[] = {"lf_stack", "stack", "ring_mp_mc"};
	struct rte_mempool *pool = NULL;

	for (size_t d = 0; d < RTE_DIM(drivers) && pool == NULL; d++)
		pool = pool_create(name, count, private_size, data_room, drivers[d]);
	if (pool == NULL)
		log_error("memory", LOG_FIELDS(LOG_STRING("pool", name)),
			  "%s: no memory for %u buffers of %u bytes: %s", name, count, data_room,
			  rte_strerror(rte_errno));
	return pool;
}
