/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of DPDK code need: EAL once a program, buffer pools that can be counted, packets. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define FIXTURE_ROOM (RTE_PKTMBUF_HEADROOM + 2048)

/* Starts EAL on ordinary pages if need be and reserves the packet's field. The test fails where it
 * cannot. The program's end stops EAL, so that its folder of the runtime folder goes as well. */
void fixture_eal(unsigned memory_mb);

/* The same with 64 MB, and the end of it, in the form that cmocka_run_group_tests() takes. */
int fixture_start(void **state);
int fixture_stop(void **state);

/* What DPDK's heap of this socket holds. */
struct rte_malloc_socket_stats fixture_memory(void);

/* Buffers of `room` bytes, headroom included. No cache, so that the count is exact. */
struct rte_mempool *fixture_pool(const char *name, unsigned buffers, unsigned room);

/* Frees the pool; the test fails where a buffer has not come back. */
void fixture_pool_end(struct rte_mempool *pool);

/* A packet of one buffer. The test fails where the pool is empty or the buffer too small. */
struct rte_mbuf *fixture_packet(struct rte_mempool *pool, const void *bytes, size_t size);

/* Copies the packet's bytes out of all its buffers. Returns how many they are. */
size_t fixture_read(const struct rte_mbuf *m, uint8_t *out, size_t room);

/* Fails where a length or count of the chain is wrong or a buffer is overrun. */
void fixture_check(const struct rte_mbuf *m);
