/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixtures for tests of DPDK code: EAL, mempools with an exact count of free buffers, and packets. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define FIXTURE_BUFFER_SIZE (RTE_PKTMBUF_HEADROOM + 2048)

/* Starts EAL, on ordinary pages where there are no huge pages, and registers the metadata field of mbufs. Call it once
 * per program. An exit handler stops EAL, which removes its runtime folder. */
void fixture_start_eal(unsigned memory_mb);

/* Group fixtures of cmocka: start EAL with 64 MB, and stop it. */
int fixture_start(void **state);
int fixture_stop(void **state);

/* Statistics of DPDK's heap on this NUMA socket. */
struct rte_malloc_socket_stats fixture_heap_stats(void);

/* Buffers of `size` bytes, headroom included. The pool has no cache, so that its count is exact. */
struct rte_mempool *fixture_pool_create(const char *name, unsigned buffers, unsigned size);

/* Frees the pool; asserts that all buffers were freed before. */
void fixture_pool_free(struct rte_mempool *pool);

/* A packet of one buffer; the caller frees it. Asserts that the pool has a buffer and that the bytes fit. */
struct rte_mbuf *fixture_packet_create(struct rte_mempool *pool, const void *bytes, size_t size);

/* Copies the packet's bytes from all its buffers. Returns their number; asserts that it is at most `capacity`. */
size_t fixture_packet_read(const struct rte_mbuf *m, uint8_t *out, size_t capacity);

/* Asserts that the lengths and counts of the mbuf chain are consistent and lie within the buffers. */
void fixture_packet_check(const struct rte_mbuf *m);
