/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap of large pages: the system gives no more of it at once than a piece, and all of it is there. */
#include "test_main.h"

#include <sys/resource.h>

#include <rte_malloc.h>
#include <rte_memory.h>

#include "platform/large_pages.h"
#include "platform/platform.h"

#define HEAP_MB 500u
#define PIECE_MB 64u
#define MIB (1u << 20)

static long most_resident_kb(void) {
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

TEST(heap_of_pieces) {
	struct rte_malloc_socket_stats stats;
	const struct platform_options options = {
		.program = "unit-test",
		.main_core = PLATFORM_ANY_CORE,
		.memory_mb = HEAP_MB,
		.memory_piece_mb = PIECE_MB,
	};
	long before = most_resident_kb();
	int socket;
	char *most;

	assert_int_equal(large_pages_socket(), SOCKET_ID_ANY);
	assert_int_equal(platform_start(&options), 0);
	socket = large_pages_socket();
	if (socket == SOCKET_ID_ANY)
		skip(); /* the system has no such pages */
	assert_true(most_resident_kb() - before < 4l * PIECE_MB * 1024);
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

static int stop(void **state) {
	platform_stop();
	return 0;
}

ALL_TESTS(NULL, stop)
