/* SPDX-License-Identifier: BSD-3-Clause */
/* What modems that wait for their grants have done, for the summary. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "access/access.h"
#include "grants/map_watch.h"
#include "model/group/channels.h"

/* What the minislots of a channel were for, by the MAPs that came. */
struct grants_use {
	uint32_t id; /* of the upstream channel */
	uint64_t maps;
	uint64_t data, request, initial, station, idle; /* minislots */
};

struct grants_result {
	struct access_counts access;
	uint64_t arrived; /* packets: = made + waiting + given up */
	uint64_t waiting; /* packets in the modems' queues when all ended */
	uint64_t refused; /* packets that found a full queue, and are none of those */
	uint64_t given_up; /* packets discarded as their requests were never answered */
	uint64_t maps; /* that came, */
	uint64_t maps_lost; /* of these not heard by any modem, as an impairment, */
	uint64_t maps_delayed; /* and heard too late, as an impairment */
	uint64_t maps_missing; /* packets of MAP pseudowires that never came */
	uint64_t
		maps_torn; /* messages of several packets of which not all came, or that grew too long */
	uint64_t maps_bad; /* nothing could be read of them, or a rule was broken */
	struct map_watch_counts watched; /* of the MAPs that came */
	uint64_t ucds;
	uint64_t requests_lost; /* as an impairment */
	uint64_t heard_bytes; /* asked for in requests that the CMTS got */
	uint64_t records; /* requests that the R-PHY device told as records, */
	uint64_t frames; /* and as bursts */
	uint64_t oversized; /* grants that were used as several bursts */
	uint64_t unused_bursts; /* grants in which nothing was sent */
	uint64_t clock_jumps;
	uint32_t silent, beyond, endless; /* modems, as impairments */
	uint32_t channels;
	bool limited; /* some flow has a rate, or a largest burst: it may be granted less than it asks for */
	struct grants_use use[SG_MAX_UPSTREAM_CHANNELS];
};
