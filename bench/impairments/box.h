/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fresh CMTS and the traffic around it in one process and thread, joined by net_ring: the upstream
 * alone. Time goes on with the packets that come, so that nothing depends on the machine.
 */
#pragma once

#include <stdint.h>

#include "directions/traffic.h"
#include "server/server.h"

/* One run. */
struct box_run {
	const struct service_group *sg;
	struct impair_shares shares;
	uint64_t packets; /* at least so many are sent */
	uint64_t seed;
};

/* What became of it. */
struct box_result {
	struct uplink_result traffic;
	struct counters counters; /* of the CMTS */
	uint64_t in[UNITS], out[UNITS], dropped[UNITS], held[UNITS];
};

/* Returns 0, or -1 after a message. */
int box_run(const struct box_run *run, struct box_result *out);
