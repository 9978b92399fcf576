/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The share of busy cycles of a core: cycles of rounds with packets, of the cycles of all rounds
 * since the previous query, or over at least BUSYNESS_WINDOW_US. Nothing is sampled between
 * queries.
 */
#pragma once

#include <stdint.h>

#define BUSYNESS_WINDOW_US 10000
#define BUSYNESS_UNKNOWN (-1) /* the core did not run in this time */

/* Cycle counters of a core and the time of their reading. All only grow. */
struct busyness_reading {
	uint64_t busy, total;
	uint64_t tsc;
};

/* State of one core; zeroed: the first query covers the time since the start. Concurrent callers
 * need a lock. */
struct busyness {
	struct busyness_reading from; /* start of the current window */
	struct busyness_reading last; /* start of the next window */
};

/* Returns percent, 0 to 100, or BUSYNESS_UNKNOWN. `window` in TSC cycles. */
int busyness_of(struct busyness *b, struct busyness_reading now, uint64_t window);
