/* SPDX-License-Identifier: BSD-3-Clause */
/* What a start of EAL leaves, by its options: each is in a process of its own. */
#include "test_main.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memory.h>

#include "platform/large_pages.h"
#include "platform/platform.h"
#include "platform/pool.h"

#define BUFFERS 20000
#define FEW 1000
#define ROOM 2176
#define MEMORY_MB 16 /* of DPDK's, which could not hold the buffers */
#define HEAP_MB 500u
#define PIECE_MB 64u
#define MIB (1u << 20)
#define SKIPPED 77

static cpu_set_t wanted;

/* Where an assertion fails in the child, its remaining tests do, too, and so does its end. */
static void start(struct platform_options options, void (*looks)(void)) {
	pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		options.program = "unit-test";
		assert_int_equal(platform_start(&options), 0);
		looks();
		platform_stop();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(status, 0);
}

static void runs_as_wanted(void) {
	cpu_set_t now;

	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &wanted));
}

static void start_on(unsigned main_core) {
	start((struct platform_options){.main_core = main_core,
					.memory_mb = MEMORY_MB,
					.offline = true},
	      runs_as_wanted);
}

/* Where the thread that started EAL may run afterwards. */
TEST(any_core_one_core_or_this_core) {
	unsigned first = 0, last = CPU_SETSIZE - 1;

	assert_int_equal(sched_getaffinity(0, sizeof(wanted), &wanted), 0);
	while (!CPU_ISSET(first, &wanted))
		first++;
	while (!CPU_ISSET(last, &wanted))
		last--;
	start_on(PLATFORM_ANY_CORE);
	CPU_ZERO(&wanted);
	CPU_SET(first, &wanted);
	start_on(PLATFORM_ONE_CORE);
	CPU_ZERO(&wanted);
	CPU_SET(last, &wanted);
	start_on(last);
}

static struct rte_mbuf *all[BUFFERS];

/* Where a card may be, and on large pages, buffers know the address that a device needs. */
static void buffers_know_their_address(void) {
	struct rte_mempool *pool = packet_pool("pool", FEW, 0, ROOM);
	bool large = platform_has_huge_pages() || large_pages_socket() != SOCKET_ID_ANY;
	uint64_t lines = 0; /* of a page, in which one begins */

	assert_non_null(pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, all, FEW), 0);
	for (unsigned i = 0; i < FEW; i++) {
		assert_ptr_equal(all[i]->buf_addr, all[i] + 1);
		assert_int_equal(all[i]->buf_len, ROOM);
		if (large && rte_eal_iova_mode() == RTE_IOVA_VA)
			assert_int_equal(rte_mbuf_iova_get(all[i]), (uintptr_t)all[i]->buf_addr);
		lines |= UINT64_C(1) << (uintptr_t)all[i] / RTE_CACHE_LINE_SIZE % 64;
	}
	assert_int_equal(lines, UINT64_MAX); /* neither one a page, nor at the same place of each */
	rte_pktmbuf_free_bulk(all, FEW);
	assert_int_equal(rte_mempool_avail_count(pool), FEW);
	rte_mempool_free(pool);
}

TEST(pools_of_a_server) {
	start((struct platform_options){.main_core = PLATFORM_ANY_CORE, .memory_mb = 64},
	      buffers_know_their_address);
}

static void pool_is_its_own(void) {
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rte_mempool *pool;
	unsigned char there;
	void *first;

	assert_true(platform_is_offline());
	if (platform_has_huge_pages() || large_pages_map(1) == NULL)
		_exit(SKIPPED);
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

/* Offline a pool's memory is of large pages where the system has them, and goes with it. */
TEST(pools_have_memory_of_their_own) {
	start((struct platform_options){.main_core = PLATFORM_ANY_CORE,
					.memory_mb = MEMORY_MB,
					.offline = true},
	      pool_is_its_own);
}

static long most_resident_kb(void) {
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static long resident_before;

static void heap_is_of_pieces(void) {
	struct rte_malloc_socket_stats stats;
	int socket = large_pages_socket();
	char *most;

	if (socket == SOCKET_ID_ANY)
		_exit(SKIPPED); /* the system has no such pages */
	assert_true(most_resident_kb() - resident_before < 4l * PIECE_MB * 1024);
	assert_int_equal(rte_malloc_get_socket_stats(socket, &stats), 0);
	assert_int_equal(stats.heap_totalsz_bytes, HEAP_MB * MIB);
	assert_true(stats.greatest_free_size > (PIECE_MB - 1) * MIB);
	assert_null(rte_malloc_socket(NULL, 2 * (size_t)PIECE_MB * MIB, 0, socket));
	most = rte_zmalloc_socket(NULL, (PIECE_MB - 1) * (size_t)MIB, 0, socket);
	assert_non_null(most);
	for (size_t i = 0; i < (PIECE_MB - 1) * (size_t)MIB; i += 64)
		assert_int_equal(most[i], 0);
	rte_free(most);
}

/* A heap of large pages: the system gives no more of it at once than a piece, and all of it is there. */
TEST(heap_of_pieces) {
	assert_int_equal(large_pages_socket(), SOCKET_ID_ANY);
	resident_before = most_resident_kb();
	start((struct platform_options){.main_core = PLATFORM_ANY_CORE,
					.memory_mb = HEAP_MB,
					.memory_piece_mb = PIECE_MB},
	      heap_is_of_pieces);
}
