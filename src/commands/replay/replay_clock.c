/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/replay_clock.h"

/* Returns the first step that is not before `at`, but at most the last step before `to`. That last
 * step always runs, so that an arrival finds the scheduler's timers as if all steps had run. */
static uint64_t step_until(uint64_t now, uint64_t at, uint64_t to) {
	uint64_t steps = (to - now - 1) / REPLAY_STEP_NS;

	if (at <= now)
		steps = RTE_MIN(steps, 1u);
	else if (at - now < steps * REPLAY_STEP_NS)
		steps = (at - now + REPLAY_STEP_NS - 1) / REPLAY_STEP_NS;
	return steps > 0 ? now + steps * REPLAY_STEP_NS : to;
}

static uint64_t group_next(const struct served_group *g, uint64_t now, uint64_t to) {
	uint64_t next = to;

	if (downstream_pending(g->downstream) > 0)
		next = step_until(now, downstream_due(g->downstream), to);
	if (g->upstream != NULL && !g->drained) /* a drained group keeps pending parts */
		next = RTE_MIN(next, RTE_MAX(upstream_deadline(g->upstream), now + 1));
	if (g->upstream != NULL)
		next = RTE_MIN(next, RTE_MAX(upstream_grants_due(g->upstream), now + 1));
	return next;
}

uint64_t replay_next(const struct server *s, uint64_t now, uint64_t to) {
	uint64_t next = to;

	for (unsigned g = 0; to > now && g < s->group_count; g++) {
		if (s->groups[g].in_service)
			next = RTE_MIN(next, group_next(&s->groups[g], now, to));
	}
	return next;
}
