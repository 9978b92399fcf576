/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs upper and lower MAC on two cores at the same time (1ds2t), connected by their ring as in vcmtsd.
 *
 * The main thread runs the upper MAC, and generates and proves the traffic between two batches. Meanwhile
 * the second core rests, and the main thread owns the lower MAC.
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
	uint64_t step_ns;
	uint64_t upper_cycles; /* of rounds with work since pair_read_cycles() */
	/* Shared by both threads. */
	enum pair_state state __rte_cache_aligned;
	uint64_t now __rte_cache_aligned; /* ns: time of the upper MAC */
	uint64_t lower_cycles __rte_cache_aligned; /* as `upper_cycles`, of the second core */
};

/*
 * Selects the cores of upper and lower MAC: those of a configuration with two threads if this process may
 * use them, otherwise the first two that it may use. Returns the number of usable cores; sets `cores` if it
 * is at least 2.
 */
unsigned pair_cores(const struct thread_config *threads, unsigned cores[2]);

/* Starts the second core on the downstream's lower MAC, in state PAIR_IDLE. Returns 0, or -1 after
 * a message. */
int pair_start(struct pair *p, struct downstream *d, struct clock *upper, struct clock *lower);

/* Ends the second core's thread; another may be started. Does nothing if none was started. */
void pair_stop(struct pair *p);

/* Processes the packets in the network port: `rounds` of the upper MAC, `step_ns` of time each, in
 * parallel with the lower MAC. Returns when both rest; advances `now` (ns). */
void pair_carry(struct pair *p, unsigned rounds, uint64_t step_ns, uint64_t *now);

/* Reference cycles of both cores since the last call. The pair must rest. */
uint64_t pair_read_cycles(struct pair *p);
