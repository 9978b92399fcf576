/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the governor have in common: a range, and what a worker counts. */
#pragma once

#include "power/governor.h"

static const uint32_t bench_states[] = {800000, 1000000, 1200000, 1400000, 1600000, 1800000};
static const struct governor_range bench_range = {
	.min_khz = 800000,
	.max_khz = 1800000,
	.states = bench_states,
	.state_count = 6,
	.transition_ns = 50000,
};

#define BENCH_EMPTY 100 /* cycles, which are ns here, of a round without work */
#define BENCH_ROUND 10000 /* of one with work */

/* In `ns` packets took `percent` of the time, but for what rounds cost without any: a hundredth of that. */
static inline void bench_work(struct governor_reading *r, uint64_t ns, unsigned percent) {
	uint64_t busy = ns * percent / 100, idle = ns - busy;

	r->busy += busy;
	r->busy_rounds += busy / BENCH_ROUND;
	r->idle += idle;
	r->rounds += busy / BENCH_ROUND + idle / BENCH_EMPTY;
}
