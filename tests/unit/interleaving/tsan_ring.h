/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before every file of the ThreadSanitizer build (make races). Replaces inline functions
 * of DPDK's rings that violate C11's memory model. Others use RTE_USE_C11_MEM_MODEL.
 *
 * - A ring with several producers (RING_F_MP_RTS_ENQ) stores its tail as 64 bits, and its consumer
 *   loads 32 of them. Here, producers take a lock and enqueue like a single producer.
 * - The number of entries is computed from plain loads of both tails. Here, the loads are atomic.
 */
#pragma once

#if defined(__SANITIZE_THREAD__) && __has_include(<rte_ring.h>)

#include <sched.h>

#include <rte_ring.h>

extern bool tsan_ring_lock;
__attribute__((weak)) bool tsan_ring_lock; /* one for all rings and files */

static inline unsigned tsan_enqueue_burst(struct rte_ring *r, void *const *objects, unsigned count,
					  unsigned *space) {
	unsigned enqueued;

	if (r->prod.sync_type != RTE_RING_SYNC_MT_RTS)
		return rte_ring_enqueue_burst(r, objects, count, space);
	while (__atomic_test_and_set(&tsan_ring_lock, __ATOMIC_ACQUIRE))
		sched_yield();
	enqueued = rte_ring_sp_enqueue_burst(r, objects, count, space);
	__atomic_clear(&tsan_ring_lock, __ATOMIC_RELEASE);
	return enqueued;
}

static inline unsigned tsan_ring_count(const struct rte_ring *r) {
	uint32_t produced = __atomic_load_n(&r->prod.tail, __ATOMIC_RELAXED);
	uint32_t consumed = __atomic_load_n(&r->cons.tail, __ATOMIC_RELAXED);
	uint32_t count = (produced - consumed) & r->mask;

	return count > r->capacity ? r->capacity : count;
}

static inline unsigned tsan_ring_free_count(const struct rte_ring *r) {
	return r->capacity - tsan_ring_count(r);
}

static inline int tsan_ring_empty(const struct rte_ring *r) {
	return __atomic_load_n(&r->prod.tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&r->cons.tail, __ATOMIC_RELAXED);
}

#define rte_ring_enqueue_burst tsan_enqueue_burst
#define rte_ring_count tsan_ring_count
#define rte_ring_free_count tsan_ring_free_count
#define rte_ring_empty tsan_ring_empty

#endif
