/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of struct traffic, for the files that implement it. */
#pragma once

#include "directions/downlink.h"
#include "directions/traffic.h"
#include "directions/uplink.h"
#include "directions/uplink_change.h"
#include "directions/uplink_receiver.h"
#include "pipeline/gaps.h"

struct traffic_change;

struct traffic {
	uint16_t network_port;
	uint16_t rphy_port;
	bool network_shared, rphy_shared; /* the caller receives there */
	uint64_t tsc_hz;
	bool stopped;
	bool no_downstream; /* the load has no downstream */
	const struct service_group *sg;
	struct pacing rounds; /* measures rounds of the loop only */
	struct gaps gaps; /* the longest rounds */
	struct downlink *downlink; /* NULL: no downstream */
	struct uplink *uplink; /* NULL: no upstream */
	struct uplink_receiver uplink_receiver;
	bool follows; /* the service group changes */
	struct traffic_change *offered; /* by another thread; or NULL */
	unsigned offered_rounds; /* rounds since the offer */
	uint64_t apply_longest; /* longest time to apply a change, TSC cycles */
	bool emptied; /* since the offer, all frames that had arrived were received */
	struct uplink_follow uplink_follow;
	uint64_t uplink_first_tsc; /* of the packets sent */
	uint64_t uplink_last_tsc;
	uint64_t uplink_send_cycles;
	uint64_t uplink_receive_cycles;
};
