/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests platform_start() in child processes: affinity, pools and heap with various options. */
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
#define FEW_BUFFERS 1000
#define BUFFER_SIZE 2176
#define MEMORY_MB 16 /* DPDK's memory; less than the buffers need */
#define HEAP_MB 500u
#define PIECE_MB 64u
#define MIB (1u << 20)
#define SKIPPED 77

static cpu_set_t expected_cores;

/* Calls check() after a start of EAL in a child. Its exit code SKIPPED skips the test. */
static void start_in_child(struct platform_options options, void (*check)(void)) {
	pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		options.program = "unit-test";
		assert_int_equal(platform_start(&options), 0);
		check();
		platform_stop();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	assert_int_equal(status, 0);
}

static void assert_affinity(void) {
	cpu_set_t now;

	assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
	assert_true(CPU_EQUAL(&now, &expected_cores));
}

static void start_on(unsigned main_core) {
	start_in_child((struct platform_options){.main_core = main_core,
						 .memory_mb = MEMORY_MB,
						 .offline = true},
		       assert_affinity);
}

/* Cores on which the thread that started EAL may run. */
TEST(main_core_sets_affinity) {
	unsigned first = 0, last = CPU_SETSIZE - 1;

	assert_int_equal(sched_getaffinity(0, sizeof(expected_cores), &expected_cores), 0);
	while (!CPU_ISSET(first, &expected_cores))
		first++;
	while (!CPU_ISSET(last, &expected_cores))
		last--;
	start_on(PLATFORM_ANY_CORE);
	CPU_ZERO(&expected_cores);
	CPU_SET(first, &expected_cores);
	start_on(PLATFORM_ONE_CORE);
	CPU_ZERO(&expected_cores);
	CPU_SET(last, &expected_cores);
	start_on(last);
}

static struct rte_mbuf *buffers[BUFFERS];

/* Buffers have the IOVA that a device needs, and start in different cache lines of their pages. */
static void assert_buffer_addresses(void) {
	struct rte_mempool *pool = packet_pool("pool", FEW_BUFFERS, 0, BUFFER_SIZE);
	bool large = platform_has_huge_pages() || large_pages_socket() != SOCKET_ID_ANY;
	uint64_t lines = 0; /* bitmap: cache lines of a page in which a buffer starts */

	assert_non_null(pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, buffers, FEW_BUFFERS), 0);
	for (unsigned i = 0; i < FEW_BUFFERS; i++) {
		assert_ptr_equal(buffers[i]->buf_addr, buffers[i] + 1);
		assert_int_equal(buffers[i]->buf_len, BUFFER_SIZE);
		if (large && rte_eal_iova_mode() == RTE_IOVA_VA)
			assert_int_equal(rte_mbuf_iova_get(buffers[i]),
					 (uintptr_t)buffers[i]->buf_addr);
		lines |= UINT64_C(1) << (uintptr_t)buffers[i] / RTE_CACHE_LINE_SIZE % 64;
	}
	assert_int_equal(lines, UINT64_MAX); /* all lines are in use */
	rte_pktmbuf_free_bulk(buffers, FEW_BUFFERS);
	assert_int_equal(rte_mempool_avail_count(pool), FEW_BUFFERS);
	rte_mempool_free(pool);
}

TEST(server_pool_has_iova) {
	start_in_child((struct platform_options){.main_core = PLATFORM_ANY_CORE, .memory_mb = 64},
		       assert_buffer_addresses);
}

static void assert_pool_unmaps(void) {
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rte_mempool *pool;
	unsigned char residency;
	void *first;

	assert_true(platform_is_offline());
	if (platform_has_huge_pages() || large_pages_map(1) == NULL)
		_exit(SKIPPED);
	pool = packet_pool("pool", BUFFERS, 0, BUFFER_SIZE);
	assert_non_null(pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, buffers, BUFFERS), 0);
	first = (void *)((uintptr_t)buffers[0] / page * page);
	for (unsigned i = 0; i < BUFFERS; i++) {
		assert_ptr_equal(buffers[i]->buf_addr, buffers[i] + 1);
		memset(buffers[i]->buf_addr, 0xa5, BUFFER_SIZE);
	}
	for (unsigned i = 0; i < BUFFERS; i++)
		assert_ptr_equal(buffers[i]->pool, pool);
	rte_pktmbuf_free_bulk(buffers, BUFFERS);
	assert_int_equal(mincore(first, page, &residency), 0);
	rte_mempool_free(pool);
	assert_int_equal(mincore(first, page, &residency), -1);
	assert_int_equal(errno, ENOMEM);
}

/* Offline, a pool has its own memory, of large pages if available, and unmaps it at its end. */
TEST(offline_pool_has_its_own_memory) {
	start_in_child((struct platform_options){.main_core = PLATFORM_ANY_CORE,
						 .memory_mb = MEMORY_MB,
						 .offline = true},
		       assert_pool_unmaps);
}

static long max_resident_kb(void) {
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static long resident_before;

/* Memory that the system has allocated for this process alone. */
static long anonymous_kb(void) {
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	assert_non_null(status);
	while (kb < 0 && fgets(line, sizeof(line), status) != NULL)
		(void)sscanf(line, "RssAnon: %ld kB", &kb);
	fclose(status);
	assert_true(kb >= 0);
	return kb;
}

static void assert_heap_is_zeros(void) {
	size_t size = (PIECE_MB - 1) * (size_t)MIB;
	char *largest = rte_zmalloc_socket(NULL, size, 0, large_pages_socket());

	assert_non_null(largest);
	for (size_t i = 0; i < size; i += 64)
		assert_int_equal(largest[i], 0);
	memset(largest, 0xa5, size);
	for (size_t i = 0; i < size; i += 64)
		assert_int_equal((uint8_t)largest[i], 0xa5);
	rte_free(largest);
}

static void assert_heap_in_pieces(void) {
	struct rte_malloc_socket_stats stats;
	int socket = large_pages_socket();

	if (socket == SOCKET_ID_ANY)
		_exit(SKIPPED); /* no large pages on this system */
	assert_true(max_resident_kb() - resident_before < 4l * PIECE_MB * 1024);
	assert_int_equal(rte_malloc_get_socket_stats(socket, &stats), 0);
	assert_int_equal(stats.heap_totalsz_bytes, HEAP_MB * MIB);
	assert_true(stats.greatest_free_size > (PIECE_MB - 1) * MIB);
	assert_null(rte_malloc_socket(NULL, 2 * (size_t)PIECE_MB * MIB, 0, socket));
	assert_true(anonymous_kb() < (long)HEAP_MB * 1024 / 4);
	assert_heap_is_zeros();
}

/* A heap of large pages is allocated in pieces of zeros; untouched pieces use no memory. */
TEST(heap_is_allocated_in_pieces) {
	assert_int_equal(large_pages_socket(), SOCKET_ID_ANY);
	resident_before = max_resident_kb();
	start_in_child((struct platform_options){.main_core = PLATFORM_ANY_CORE,
						 .memory_mb = HEAP_MB,
						 .memory_piece_mb = PIECE_MB},
		       assert_heap_in_pieces);
}

static void assert_heap_without_files(void) {
	struct rlimit none = {0, 0};

	if (platform_has_huge_pages() || large_pages_map(1) == NULL)
		_exit(SKIPPED);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	large_pages_create(HEAP_MB, PIECE_MB);
	assert_int_not_equal(large_pages_socket(), SOCKET_ID_ANY);
	assert_heap_is_zeros();
}

/* The heap does not need the file by which its memory is not zeroed twice. */
TEST(heap_needs_no_file) {
	start_in_child((struct platform_options){.main_core = PLATFORM_ANY_CORE,
						 .memory_mb = MEMORY_MB,
						 .offline = true},
		       assert_heap_without_files);
}
