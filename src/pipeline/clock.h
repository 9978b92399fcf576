/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of stages: nanoseconds since the start of the pipeline, read once per round of the
 * worker. A replay sets it from the capture. */
#pragma once

#include <stdint.h>

#include <rte_cycles.h>

#define CLOCK_NS_PER_S 1000000000ull

struct clock {
	uint64_t now; /* ns */
	uint64_t base_tsc;
	uint64_t ns_per_tick_q32; /* fixed point, 32 fractional bits */
};

/* Counts from `base_tsc`, which clocks that must agree share. */
static inline void clock_start_at(struct clock *c, uint64_t base_tsc) {
	c->base_tsc = base_tsc;
	c->now = 0;
	c->ns_per_tick_q32 =
		(uint64_t)(((unsigned __int128)CLOCK_NS_PER_S << 32) / rte_get_tsc_hz());
}

static inline void clock_start(struct clock *c) {
	clock_start_at(c, rte_rdtsc());
}

static inline void clock_tick(struct clock *c) {
	unsigned __int128 ticks = rte_rdtsc() - c->base_tsc;

	/* One store, as the control thread reads the clocks of workers. */
	__atomic_store_n(&c->now, (uint64_t)((ticks * c->ns_per_tick_q32) >> 32), __ATOMIC_RELAXED);
}
