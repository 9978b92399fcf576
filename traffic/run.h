/* SPDX-License-Identifier: BSD-3-Clause */
/* The polling thread of vcmts-traffic: drain, send and receive, collect what is still on its way. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "traffic.h"

struct progress {
	uint64_t sent_bytes;
	uint64_t proven;
	uint64_t missing; /* packets passed over in their streams */
};

struct run {
	struct traffic *traffic;
	uint64_t duration_ns; /* of sending */
	bool send_only; /* nothing is received */
	/* Set by another thread to how often it was told to stop: the first time ends the sending, one
	 * while what is under way is collected ends that. */
	unsigned stop;
	bool done; /* set by this one when the results are final */
	/* Kept up to date for another thread to read. */
	struct progress downstream;
	struct progress upstream;
};

/* For rte_eal_remote_launch(), with a struct run. Returns 0. */
int run_traffic(void *run);
