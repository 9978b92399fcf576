/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of a pool: where a card may be, and on large pages, they know the address that a device needs. */
#include "test_main.h"

#include <rte_mbuf.h>

#include "platform/large_pages.h"
#include "platform/platform.h"
#include "platform/pool.h"

#include "fixture.h"

#define BUFFERS 1000

/* And they are packed: neither one a page, nor at the same place of each. */
TEST(buffers_know_their_address) {
	struct rte_mempool *pool = packet_pool("pool", BUFFERS, 0, FIXTURE_ROOM);
	bool large = platform_has_huge_pages() || large_pages_socket() != SOCKET_ID_ANY;
	struct rte_mbuf *all[BUFFERS];
	uint64_t lines = 0; /* of a page, in which one begins */

	assert_non_null(pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, all, BUFFERS), 0);
	for (unsigned i = 0; i < BUFFERS; i++) {
		assert_ptr_equal(all[i]->buf_addr, all[i] + 1);
		assert_int_equal(all[i]->buf_len, FIXTURE_ROOM);
		if (large && rte_eal_iova_mode() == RTE_IOVA_VA)
			assert_int_equal(rte_mbuf_iova_get(all[i]), (uintptr_t)all[i]->buf_addr);
		lines |= UINT64_C(1) << (uintptr_t)all[i] / RTE_CACHE_LINE_SIZE % 64;
	}
	assert_int_equal(lines, UINT64_MAX);
	rte_pktmbuf_free_bulk(all, BUFFERS);
	assert_int_equal(rte_mempool_avail_count(pool), BUFFERS);
	rte_mempool_free(pool);
}

ALL_TESTS(fixture_start, fixture_stop)
