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
	uint64_t maps; /* number of valid MAPs received */
	uint64_t data, request, initial, station, idle; /* minislots */
};

struct grants_result {
	struct access_counts access;
	/* packets queued at the modems; in the end uplink_sent() + `waiting` + `given_up` */
	uint64_t arrived;
	uint64_t waiting; /* packets in the modems' queues at the end */
	uint64_t refused; /* packets that met a full queue; not counted in `arrived` */
	uint64_t given_up; /* packets discarded because their requests were not answered */
	uint64_t maps; /* valid MAPs received, including `maps_lost` and `maps_delayed` */
	uint64_t maps_lost; /* of these, lost for all modems by an impairment */
	uint64_t maps_delayed; /* of these, delayed beyond use by an impairment */
	uint64_t maps_missing; /* packets missing in MAP pseudowires, by PSP sequence number */
	/* MAPs, UCDs and others that miss packets or exceed the maximum size */
	uint64_t maps_incomplete;
	/* packets and messages that cannot be parsed, and MAPs that break a rule of map_check() */
	uint64_t maps_bad;
	struct map_watch_counts watched; /* of the received MAPs */
	uint64_t ucds; /* received, of all UCD types */
	uint64_t requests_lost; /* request frames lost by an impairment */
	/* bytes requested by request frames and piggybacks that the CMTS receives: without collisions and
	 * `requests_lost` */
	uint64_t heard_bytes;
	/* request frames that the R-PHY device sends as request records; not piggybacks */
	uint64_t records;
	uint64_t frames; /* request frames that the R-PHY device sends as bursts */
	uint64_t oversized; /* grants split into several bursts */
	uint64_t unused_bursts; /* grants reported as unused: without bytes and request */
	/* jumps of the DOCSIS clock; all modems restart and keep their queues */
	uint64_t clock_jumps;
	/* modems with the conduct ACCESS_SILENT, ACCESS_BEYOND, ACCESS_ENDLESS, by impairments */
	uint32_t silent, beyond, endless;
	uint32_t channels; /* elements of `use`; 0 in a sum of groups */
	/* a flow has a rate, a maximum burst or a scheduling type other than best effort: its grants may differ from
	 * its requests */
	bool limited;
	struct grants_use use[SG_MAX_UPSTREAM_CHANNELS];
};
