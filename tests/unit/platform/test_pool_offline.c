/* SPDX-License-Identifier: BSD-3-Clause */
/* Offline a pool's memory is its own, of large pages where the system has them, and goes with it. */
#include "test_main.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "platform/large_pages.h"
#include "platform/platform.h"
#include "platform/pool.h"

#define BUFFERS 20000
#define ROOM 2176
#define MEMORY_MB 16 /* of DPDK's, which could not hold the buffers */

TEST(memory_is_the_pools_own) {
	const struct platform_options options = {
		.program = "unit-test",
		.main_core = PLATFORM_ANY_CORE,
		.memory_mb = MEMORY_MB,
		.offline = true,
	};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	static struct rte_mbuf *all[BUFFERS];
	struct rte_mempool *pool;
	unsigned char there;
	void *first;

	assert_int_equal(platform_start(&options), 0);
	assert_true(platform_is_offline());
	if (platform_has_huge_pages() || large_pages_map(1) == NULL)
		skip();
	pool = packet_pool("pool", BUFFERS, 0, ROOM);
	assert_non_null(pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, all, BUFFERS), 0);
	first = (void *)((uintptr_t)all[0] / page * page);
	for (unsigned i = 0; i < BUFFERS; i++) {
		assert_ptr_equal(all[i]->buf_addr, all[i] + 1);
		memset(all[i]->buf_addr, 0xa5, ROOM);
	}
	for (unsigned i = 0; i < BUFFERS; i++)
		assert_ptr_equal(all[i]->pool, pool);
	rte_pktmbuf_free_bulk(all, BUFFERS);
	assert_int_equal(mincore(first, page, &there), 0);
	rte_mempool_free(pool);
	assert_int_equal(mincore(first, page, &there), -1);
	assert_int_equal(errno, ENOMEM);
}

static int stop(void **state) {
	platform_stop();
	return 0;
}

ALL_TESTS(NULL, stop)
