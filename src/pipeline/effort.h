/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the work was done: it depends on the moments at which packets came and on who else had the core, so that no
 * two runs agree. What becomes of packets is in counters (pipeline/counters.h), which do not depend on that.
 */
#pragma once

#include <stdint.h>

/* Packets of a poll behind which there may be more: some drivers hand out no more than so many at a time. */
#define EFFORT_FULL 32

struct effort {
	uint64_t polls_useful; /* times that the source was asked and had packets */
	uint64_t polls_empty; /* times that it had none */
	uint64_t full_polls; /* times that it had EFFORT_FULL or more: a queue is behind it */
	uint64_t lookups; /* calls that look modems up; upstream of bursts, by SID */
	uint64_t looked_up; /* packets or bursts in these calls */
};

static inline void effort_poll(struct effort *e, uint16_t received) {
	e->polls_useful += received > 0;
	e->polls_empty += received == 0;
	e->full_polls += received >= EFFORT_FULL;
}

static inline void effort_look_up(struct effort *e, uint16_t n) {
	e->lookups++;
	e->looked_up += n;
}
