/* SPDX-License-Identifier: BSD-3-Clause */
#include "test.h"

#include <dirent.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "platform/large_pages.h"

#include "life_bench.h"

static uint64_t dpdk_heap(void) {
	struct rte_malloc_socket_stats stats;
	uint64_t bytes = 0;

	for (unsigned s = 0; s < RTE_MAX_HEAPS; s++) {
		if (rte_malloc_get_socket_stats((int)s, &stats) == 0)
			bytes += stats.heap_allocsz_bytes;
	}
	if (large_pages_socket() != SOCKET_ID_ANY &&
	    rte_malloc_get_socket_stats(large_pages_socket(), &stats) == 0)
		bytes += stats.heap_allocsz_bytes;
	return bytes;
}

static void count_zone(const struct rte_memzone *zone, void *count) {
	(void)zone;
	(*(unsigned *)count)++;
}

static unsigned files_open(void) {
	DIR *d = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		count++;
	closedir(d);
	return count;
}

struct life_left life_left_now(void) {
	struct life_left l = {.dpdk = dpdk_heap(), .files = files_open()};

	rte_memzone_walk(count_zone, &l.zones);
	l.ports = rte_eth_dev_count_avail();
	return l;
}

void life_left_check(const struct life_left *before) {
	const struct life_left now = life_left_now();

	assert_int_equal(before->dpdk, now.dpdk);
	assert_int_equal(before->zones, now.zones);
	assert_int_equal(before->files, now.files);
	assert_int_equal(before->ports, now.ports);
}
