/* SPDX-License-Identifier: BSD-3-Clause */
/* The polling thread of vcmts-traffic: drains, sends and receives, collects packets in flight. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/traffic.h"
#include "groups/groups.h"

/* Counts so far, under the names of the results. A missing packet counts as lost unless a damaged frame or a change
 * explains it; it may still arrive. */
struct progress {
	uint64_t sent_bytes;
	uint64_t proven;
	uint64_t lost;
	uint64_t overtaken;
	uint64_t corrupted; /* frames, as those below */
	uint64_t undecipherable;
	uint64_t duplicated;
	uint64_t reordered;
};

struct run {
	struct groups *groups;
	uint64_t duration_ns; /* duration of sending */
	bool send_only; /* does not receive */
	/* Set by another thread to the number of stop requests: the first ends the sending, one during the
	 * collection of packets ends that. */
	unsigned stop;
	bool done; /* set by this thread when the results are final */
	/* TSC cycles of rounds with work, and of rounds without while packets are made; excludes rounds in
	 * which the thread was descheduled. */
	uint64_t busy_cycles;
	uint64_t idle_cycles;
	/* Updated for another thread to read. */
	struct progress downstream;
	struct progress upstream;
};

/* For rte_eal_remote_launch(), with a struct run. Returns 0. */
int run_traffic(void *run);

/* A run with its own load, of a traffic that was just created or has run before. */
struct trial {
	struct run run; /* not `send_only`, one group */
	struct traffic_load load;
	/* Called right before the first packet on the traffic's thread; may be NULL. */
	void (*begins)(void *data_plane, const struct traffic_load *load);
	void *data_plane;
	bool settled; /* set when `run` is done: the previous trial has ended */
	bool begun; /* set when `run` is done: it ended, and the load was valid */
};

/* For rte_eal_remote_launch(), with a struct trial. First sends and discards the rest of an earlier
 * trial until nothing arrives any more. Returns 0. */
int run_trial(void *trial);
