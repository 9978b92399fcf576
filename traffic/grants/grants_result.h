/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of scheduled modems for the summary. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "access/access.h"
#include "grants/map_watch.h"
#include "model/group/channels.h"

/* Use of a channel's minislots by the received MAPs. */
struct grants_use {
	uint32_t id; /* upstream channel ID */
	uint64_t maps;
	uint64_t data, request, initial, station, idle; /* minislots */
};

struct grants_result {
	struct access_counts access;
	uint64_t arrived; /* packets: = made + waiting + given up */
	uint64_t waiting; /* packets in the modems' queues at the end */
	uint64_t refused; /* packets that met a full queue; not counted in `arrived` */
	uint64_t given_up; /* packets discarded because their requests were not answered */
	uint64_t maps; /* received */
	uint64_t maps_lost; /* received, but lost for all modems by an impairment */
	uint64_t maps_delayed; /* received, but delayed beyond use by an impairment */
	uint64_t maps_missing; /* lost packets of MAP pseudowires */
	uint64_t maps_incomplete; /* messages that miss packets or exceed the maximum size */
	uint64_t maps_bad; /* MAPs that cannot be parsed or break a rule of map_check() */
	struct map_watch_counts watched; /* of the received MAPs */
	uint64_t ucds;
	uint64_t requests_lost; /* by an impairment */
	uint64_t received_bytes; /* bytes of requests that reached the CMTS */
	uint64_t records; /* requests that the R-PHY device reported as records */
	uint64_t frames; /* requests that the R-PHY device forwarded as bursts */
	uint64_t oversized; /* grants split into several bursts */
	uint64_t unused_bursts; /* grants in which nothing was sent */
	uint64_t clock_jumps;
	uint32_t silent, beyond, endless; /* modems with impairments */
	uint32_t channels;
	/* a flow has a rate or a maximum burst, so it may be granted less than it requests */
	bool limited;
	struct grants_use use[SG_MAX_UPSTREAM_CHANNELS];
};
