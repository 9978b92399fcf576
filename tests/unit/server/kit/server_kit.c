/* SPDX-License-Identifier: BSD-3-Clause */
#include "server_kit.h"

#include <rte_malloc.h>

#include "platform/large_pages.h"

#include "test.h"

void server_check_empty(const struct server *s) {
	const struct rte_mempool *const pools[] = {s->pools.packets, s->pools.depi_headers,
						   s->pools.depi_fragments, s->pools.uepi,
						   s->pools.frames};

	assert_int_equal(server_pending(s), 0);
	for (size_t p = 0; p < ARRAY_COUNT(pools); p++)
		assert_int_equal(pools[p] != NULL ? rte_mempool_in_use_count(pools[p]) : 0, 0);
}

static void heap_add(struct heaps_used *used, int socket) {
	struct rte_malloc_socket_stats stats;

	if (rte_malloc_get_socket_stats(socket, &stats) != 0)
		return;
	used->bytes += stats.heap_allocsz_bytes;
	used->allocations += stats.alloc_count;
}

struct heaps_used heaps_used(void) {
	struct heaps_used used = {0};

	for (int heap = 0; heap < RTE_MAX_HEAPS; heap++)
		heap_add(&used, heap);
	if (large_pages_socket() != SOCKET_ID_ANY)
		heap_add(&used, large_pages_socket());
	return used;
}

void digest_add(uint64_t *sum, const void *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		*sum = (*sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
}
