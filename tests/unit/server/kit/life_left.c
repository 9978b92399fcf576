/* SPDX-License-Identifier: BSD-3-Clause */
#include "test.h"

#include <dirent.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_memzone.h>

#include "platform/large_pages.h"

#include "life_bench.h"

/* A piece that is too small for an allocation stays with the one before it: as many as this, of 128 bytes and less. */
#define ODD_BYTES 1024

static void heap_add(struct life_left *l, int socket) {
	struct rte_malloc_socket_stats stats;

	if (rte_malloc_get_socket_stats(socket, &stats) != 0)
		return;
	l->dpdk += stats.heap_allocsz_bytes;
	l->allocations += stats.alloc_count;
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
	struct life_left l = {.files = files_open()};

	for (int s = 0; s < RTE_MAX_HEAPS; s++)
		heap_add(&l, s);
	if (large_pages_socket() != SOCKET_ID_ANY)
		heap_add(&l, large_pages_socket());
	rte_memzone_walk(count_zone, &l.zones);
	l.ports = rte_eth_dev_count_avail();
	return l;
}

void life_left_check(const struct life_left *before) {
	const struct life_left now = life_left_now();

	assert_int_equal(before->allocations, now.allocations);
	assert_in_range(now.dpdk + ODD_BYTES, before->dpdk, before->dpdk + 2 * ODD_BYTES);
	assert_int_equal(before->zones, now.zones);
	assert_int_equal(before->files, now.files);
	assert_int_equal(before->ports, now.ports);
}
