/* SPDX-License-Identifier: BSD-3-Clause */
/* The polling thread of vcmts-traffic: drain, send and receive, collect what is still on its way. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "directions/traffic.h"
#include "groups/groups.h"

struct progress {
	uint64_t sent_bytes;
	uint64_t proven;
	uint64_t missing; /* packets passed over in their streams */
};

struct run {
	struct groups *groups;
	uint64_t duration_ns; /* of sending */
	bool send_only; /* nothing is received */
	/* Set by another thread to how often it was told to stop: the first time ends the sending, one
	 * while what is under way is collected ends that. */
	unsigned stop;
	bool done; /* set by this one when the results are final */
	/* TSC cycles of the rounds in which something moved, and of the others while packets are made;
	 * without those in which the core was taken away. */
	uint64_t busy_cycles;
	uint64_t idle_cycles;
	/* Kept up to date for another thread to read. */
	struct progress downstream;
	struct progress upstream;
};

/* For rte_eal_remote_launch(), with a struct run. Returns 0. */
int run_traffic(void *run);

/* A run of a traffic that has run before, or was just made, with a load of its own. */
struct trial {
	struct run run; /* not `send_only`, of one group */
	struct traffic_load load;
	/* Called right before the first packet, on the traffic's thread; may be NULL. */
	void (*begins)(void *data_plane, const struct traffic_load *load);
	void *data_plane;
	bool settled; /* set when `run` is done: what was before has come to its end */
	bool begun; /* likewise: and the load was good */
};

/*
 * For rte_eal_remote_launch(), with a struct trial. Before it begins, what is left of an earlier trial
 * is sent and discarded, until nothing comes any more. Returns 0.
 */
int run_trial(void *trial);
