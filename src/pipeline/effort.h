/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the work was done: it depends on the moments at which packets came and on who else had the core, so that no
 * two runs agree. What becomes of packets is in counters (pipeline/counters.h), which do not depend on that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Packets of a poll behind which there may be more: some drivers hand out no more than so many at a time. */
#define EFFORT_FULL 32

struct effort {
	uint64_t polls_useful; /* times that the source was asked and had packets */
	uint64_t polls_empty; /* times that it had none */
	uint64_t full_polls; /* times that it had EFFORT_FULL or more, as the time before */
	bool was_full;
	uint64_t lookups; /* calls that look modems up; upstream of bursts, by SID */
	uint64_t looked_up; /* packets or bursts in these calls */
};

/* Whether a poll brought so many, and the one before it too: packets that come in bursts are all taken by the first, behind a
 * second one there is a queue. */
static inline bool effort_full(bool *was_full, uint16_t received) {
	bool full = received >= EFFORT_FULL, both = full && *was_full;

	*was_full = full;
	return both;
}

static inline void effort_poll(struct effort *e, uint16_t received) {
	e->polls_useful += received > 0;
	e->polls_empty += received == 0;
	e->full_polls += effort_full(&e->was_full, received);
}

static inline void effort_look_up(struct effort *e, uint16_t n) {
	e->lookups++;
	e->looked_up += n;
}
