/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the governor have in common: a range, and what a worker counts. */
#pragma once

#include "power/governor.h"

static const uint32_t kit_states[] = {800000, 1000000, 1200000, 1400000, 1600000, 1800000};
static const struct governor_range kit_range = {
	.min_khz = 800000,
	.max_khz = 1800000,
	.states = kit_states,
	.state_count = 6,
	.transition_ns = 50000,
};

#define KIT_EMPTY 100 /* cycles, which are ns here, of a round without work */
#define KIT_ROUND 10000 /* of one with work */

/* In `ns` packets took `percent` of the time, but for what rounds cost without any: a hundredth of that. */
static inline void kit_work(struct governor_reading *r, uint64_t ns, unsigned percent) {
	uint64_t busy = ns * percent / 100, idle = ns - busy;

	r->busy += busy;
	r->busy_rounds += busy / KIT_ROUND;
	r->idle += idle;
	r->rounds += busy / KIT_ROUND + idle / KIT_EMPTY;
}
