/* SPDX-License-Identifier: BSD-3-Clause */
#include "footprint.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "platform/large_pages.h"

/* Allocated bytes of a DPDK heap. */
static uint64_t heap_memory(int socket) {
	struct rte_malloc_socket_stats stats;

	return rte_malloc_get_socket_stats(socket, &stats) == 0 ? stats.heap_allocsz_bytes : 0;
}

/* Mempools, rings and rte_malloc() all allocate from these heaps. */
static uint64_t dpdk_memory(void) {
	int large = large_pages_socket();
	uint64_t bytes = large == SOCKET_ID_ANY ? 0 : heap_memory(large);

	for (unsigned s = 0; s < rte_socket_count(); s++)
		bytes += heap_memory(rte_socket_id_by_idx(s));
	return bytes;
}

uint64_t footprint_memory(void) {
	struct mallinfo2 info = mallinfo2();

	return dpdk_memory() + info.uordblks + info.hblkhd;
}

double monotonic_seconds(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Resident memory of the process in bytes; 0 if unknown. */
static uint64_t resident(void) {
	FILE *f = fopen("/proc/self/statm", "r");
	uint64_t size, pages = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &size, &pages) != 2)
		pages = 0;
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

json_t *footprint_memory_json(const struct footprint *f, size_t modems) {
	uint64_t own = f->configuration + f->tables;

	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:I}", "total", (json_int_t)(own + f->pools),
			 "configuration", (json_int_t)f->configuration, "pools",
			 (json_int_t)f->pools, "tables", (json_int_t)f->tables, "per_modem",
			 (double)own / (double)modems, "resident", (json_int_t)resident());
}

json_t *footprint_start_json(const struct footprint *f) {
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "total",
			 f->load + f->make_pools + f->make_sessions + f->make_tables, "load",
			 f->load, "pools", f->make_pools, "sessions", f->make_sessions, "tables",
			 f->make_tables);
}
