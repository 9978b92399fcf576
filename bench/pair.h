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
	uint64_t upper_cycles; /* reference cycles of rounds with work, since pair_take_cycles() */
	/* Shared by both threads. */
	enum pair_state state __rte_cache_aligned;
	uint64_t now __rte_cache_aligned; /* ns: time of the upper MAC */
	uint64_t lower_cycles __rte_cache_aligned; /* as `upper_cycles`, of the second core */
};

/*
 * Selects the CPUs of upper and lower MAC: those of `threads` if it has layout 1ds2t and this process may
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

/*
 * Runs `rounds` rounds of the upper MAC, `step_ns` of simulated time each, in parallel with the lower MAC. A
 * round takes one burst from the network port. Returns when the ring is empty and the second core rests; packets
 * may remain in queues and open DEPI frames. Adds `rounds * step_ns` to `now` (ns). After pair_start() only.
 */
void pair_carry(struct pair *p, unsigned rounds, uint64_t step_ns, uint64_t *now);

/* Returns the sum of both cores' reference cycles in rounds with work, and resets it. The pair must rest. */
uint64_t pair_take_cycles(struct pair *p);
