/* SPDX-License-Identifier: BSD-3-Clause */
/* What a struct traffic is made of, for the files that implement it. */
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
	bool network_shared, rphy_shared; /* somebody else receives there */
	uint64_t tsc_hz;
	bool stopped;
	bool no_downstream; /* by the load, though there is one */
	const struct service_group *sg;
	struct pacing rounds; /* of the loop, for the count of long ones only */
	struct gaps gaps; /* the longest of these */
	struct downlink *downlink; /* NULL: no downstream */
	struct uplink *uplink; /* NULL: no upstream */
	struct uplink_receiver uplink_receiver;
	bool follows; /* the service group changes */
	struct traffic_change *offered; /* by another thread; NULL: none */
	unsigned offered_rounds; /* for which it waits */
	uint64_t take_longest; /* TSC cycles: for which taking a change held the traffic */
	bool emptied; /* since it was offered: all that had arrived by then was received */
	struct uplink_follow uplink_follow;
	uint64_t uplink_first_tsc; /* of what was sent */
	uint64_t uplink_last_tsc;
	uint64_t uplink_send_cycles;
	uint64_t uplink_receive_cycles;
};
