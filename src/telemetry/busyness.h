/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How busy a core was: the share of cycles of rounds in which packets moved, of all rounds since somebody asked
 * before, but of BUSYNESS_WINDOW_US at least. Nothing is sampled in between, so that it costs nobody anything.
 */
#pragma once

#include <stdint.h>

#define BUSYNESS_WINDOW_US 10000
#define BUSYNESS_UNKNOWN (-1) /* it did not run in this time */

/* What was read of a core's cycles, and when. All only grow. */
struct busyness_reading {
	uint64_t busy, total;
	uint64_t tsc;
};

/* Of one core; begins zeroed: since the start. Who asks for it at the same time as others has a lock. */
struct busyness {
	struct busyness_reading from; /* what is told counts from here */
	struct busyness_reading last; /* .. and the next time from here, once the window is over */
};

/* Percent, 0 to 100, or BUSYNESS_UNKNOWN. `window` in cycles. */
int busyness_of(struct busyness *b, struct busyness_reading now, uint64_t window);
