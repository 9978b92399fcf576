/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Upper and lower MAC on two cores at the same time (1ds2t), joined by their ring as in vcmtsd.
 *
 * The main thread has the upper MAC and makes and proves the traffic between two batches; then the
 * second core rests, and what belongs to the lower MAC is the main thread's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "downstream/downstream.h"

#define PAIR_LCORE 1 /* the first worker of the platform */

enum pair_state {
	PAIR_RESTS,
	PAIR_RUNS,
	PAIR_ENDS, /* the upper MAC is done: rest when the ring is empty */
	PAIR_QUITS,
};

struct pair {
	struct downstream *downstream;
	struct clock *upper_clock;
	struct clock *lower_clock;
	uint64_t step_ns;
	uint64_t upper_cycles; /* of rounds with work, since pair_take_cycles() */
	/* What both threads touch. */
	enum pair_state state __rte_cache_aligned;
	uint64_t now __rte_cache_aligned; /* ns: how far the upper MAC is */
	uint64_t lower_cycles __rte_cache_aligned; /* of the second core */
};

/*
 * The cores of upper and lower MAC: those of a configuration for two threads where this process may use
 * them, else the first two that it may use. Returns how many it may use; `cores` is set from 2 on.
 */
unsigned pair_cores(const struct thread_config *threads, unsigned cores[2]);

/* Starts the second core on the downstream's lower MAC, resting. Returns 0 or -1 after a message. */
int pair_start(struct pair *p, struct downstream *d, struct clock *upper, struct clock *lower);

/* Ends the second core's thread; another may be started. Harmless where none was started. */
void pair_stop(struct pair *p);

/*
 * Carries what stands in the network port: `rounds` of the upper MAC, `step_ns` of time each, with the
 * lower MAC at the same time. Returns when both are at rest; `now` (ns) goes on.
 */
void pair_carry(struct pair *p, unsigned rounds, uint64_t step_ns, uint64_t *now);

/* Reference cycles of both cores together since it was last asked. The pair rests. */
uint64_t pair_take_cycles(struct pair *p);
