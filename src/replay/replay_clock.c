/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_clock.h"

/*
 * The first step that is not before `at`, or the last one before `to`, which is taken in any case: an
 * arrival then finds the scheduler's timers where they would be had all steps been taken.
 */
static uint64_t step_until(uint64_t now, uint64_t at, uint64_t to) {
	uint64_t steps = (to - now - 1) / REPLAY_STEP_NS;

	if (at <= now)
		steps = RTE_MIN(steps, 1u);
	else if (at - now < steps * REPLAY_STEP_NS)
		steps = (at - now + REPLAY_STEP_NS - 1) / REPLAY_STEP_NS;
	return steps > 0 ? now + steps * REPLAY_STEP_NS : to;
}

uint64_t replay_next(const struct instance *i, uint64_t now, uint64_t to) {
	uint64_t next = to;

	if (to <= now)
		return to;
	if (downstream_held(i->downstream) > 0)
		next = step_until(now, downstream_next(i->downstream), to);
	if (i->upstream != NULL)
		next = RTE_MIN(next, RTE_MAX(upstream_deadline(i->upstream), now + 1));
	return next;
}
