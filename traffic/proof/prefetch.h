/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefetches records that are longer than a cache line. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_prefetch.h>

/* Prefetches all cache lines of `size` bytes at `record`, 1 or more. */
static inline void prefetch_record(const void *record, size_t size) {
	const uint8_t *first = record;

	for (size_t at = 0; at < size; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(first + at);
	rte_prefetch0(first + size - 1);
}
