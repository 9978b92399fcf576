/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before every file of the build with ThreadSanitizer (make races). It replaces what DPDK's inline code for rings
 * does outside of C11's memory model; ThreadSanitizer understands the other rings (RTE_USE_C11_MEM_MODEL).
 *
 * - A ring for several producers (RING_F_MP_RTS_ENQ) publishes its tail by one store of 64 bits, and its consumer loads 32
 *   of them. Here the producers take a lock, and enqueue one after the other as a single producer does.
 * - The number of entries is read from both tails by plain loads beside other threads. Here the loads are atomic.
 */
#pragma once

#if defined(__SANITIZE_THREAD__) && __has_include(<rte_ring.h>)

#include <sched.h>

#include <rte_ring.h>

extern bool tsan_ring_lock;
__attribute__((weak)) bool tsan_ring_lock; /* one for all rings and files */

static inline unsigned tsan_enqueue_burst(struct rte_ring *r, void *const *objects, unsigned count,
					  unsigned *space) {
	unsigned taken;

	if (r->prod.sync_type != RTE_RING_SYNC_MT_RTS)
		return rte_ring_enqueue_burst(r, objects, count, space);
	while (__atomic_test_and_set(&tsan_ring_lock, __ATOMIC_ACQUIRE))
		sched_yield();
	taken = rte_ring_sp_enqueue_burst(r, objects, count, space);
	__atomic_clear(&tsan_ring_lock, __ATOMIC_RELEASE);
	return taken;
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
