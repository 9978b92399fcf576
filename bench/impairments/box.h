/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the upstream of a new CMTS and its traffic in one process and thread, connected by net_ring.
 * Time advances with the packets, so the results do not depend on the machine. */
#pragma once

#include <stdint.h>

#include "directions/traffic.h"
#include "server/server.h"

/* Parameters of a run. */
struct box_run {
	const struct service_group *sg;
	struct impair_shares shares;
	uint64_t packets; /* that modems send, at least */
	uint64_t seed;
};

/* Results of a run. */
struct box_result {
	struct uplink_result traffic;
	struct counters counters; /* of the CMTS */
	uint64_t in[UNITS], out[UNITS], dropped[UNITS], pending[UNITS];
};

/* Runs until all packets have left or their timers have expired. Returns 0, or -1 after a message. */
int box_run(const struct box_run *run, struct box_result *out);
