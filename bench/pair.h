/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs upper and lower MAC on two cores at the same time (1ds2t), connected by their ring as in vcmtsd.
 *
 * The main thread runs the upper MAC in pair_carry(). Between two calls it generates and proves the traffic;
 * the second core then rests, and the main thread owns the lower MAC.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "downstream/downstream.h"

#define PAIR_LCORE 1 /* the first worker of the platform */

enum pair_state {
	PAIR_IDLE,
	PAIR_RUNNING,
	PAIR_DRAINING, /* the upper MAC is done: rest when the ring is empty */
	PAIR_EXIT,
};

struct pair {
	struct downstream *downstream;
	struct clock *upper_clock;
	struct clock *lower_clock;
	uint64_t step_ns; /* simulated time of a round, of the current pair_carry() */
	uint64_t upper_cycles; /* of rounds with work since pair_take_cycles() */
	/* Shared by both threads. */
	enum pair_state state __rte_cache_aligned;
	uint64_t now __rte_cache_aligned; /* ns: time of the upper MAC */
	uint64_t lower_cycles __rte_cache_aligned; /* as `upper_cycles`, of the second core */
};

/*
 * Selects the cores of upper and lower MAC: those of `threads` if it has layout 1ds2t and this process may
 * use both, otherwise the first two usable cores. Returns the number of usable cores; sets `cores` if it
 * is at least 2.
 */
unsigned pair_cores(const struct thread_config *threads, unsigned cores[2]);

/* Starts the second core on the downstream's lower MAC, in state PAIR_IDLE. Returns 0, or -1 after
 * a message. */
int pair_start(struct pair *p, struct downstream *d, struct clock *upper, struct clock *lower);

/* Ends the second core's thread; another may be started. Does nothing if none was started; accepts a zeroed
 * struct. */
void pair_stop(struct pair *p);

/* Processes the packets in the network port: `rounds` of the upper MAC, `step_ns` of time each, in
 * parallel with the lower MAC. Returns when both rest; advances `now` (ns). */
void pair_carry(struct pair *p, unsigned rounds, uint64_t step_ns, uint64_t *now);

/* Returns and resets the reference cycles of both cores' rounds with work. The pair must rest. */
uint64_t pair_take_cycles(struct pair *p);
