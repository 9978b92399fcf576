/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of struct uplink, for the files that implement it. */
#pragma once

#include "core/pacing.h"
#include "directions/uplink.h"
#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"
#include "modems/uplink_grant.h"
#include "rphy/uplink_rphy.h"

#define UPLINK_GRANTS 16 /* per round */

struct uplink {
	struct uplink_flows flows;
	struct uplink_frames frames;
	struct uplink_rphy rphy;
	struct pacing pacing;
	struct key_store keys;
	uint64_t rate; /* as configured */
	struct mix mix;
	bool follows; /* the service group will change */
	struct rte_mempool *buffers; /* for the frames of a grant */
	struct uplink_grant grants[UPLINK_GRANTS];
	unsigned grant_count; /* filled and not sent yet */
	uint32_t grant_size; /* bytes per grant */
	uint32_t grant_max; /* maximum of grant_size */
	double lowest; /* bits per second; at a lower rate, round robin would not complete frames in time */
	bool stopping;
	struct impair *impair; /* NULL: no impairments */
	struct uplink_refused *refused; /* NULL: no frames to refuse */
	struct grants *scheduled; /* NULL: modems do not request bandwidth */
	unsigned stock_used; /* maximum buffers that the filled grants need */
	uint32_t part_sent; /* bytes of the current burst that are sent */
	/* TSC until which modems may wait for grants after the end; 0: not at the end */
	uint64_t drain_until;
	bool drain_is_over; /* that time is over */
	uint32_t grants_before_end; /* grants to assign before the end */
};

/* Makes the burst of a filled and encrypted grant and passes it to the R-PHY device. */
void uplink_grant_send(struct uplink *u, struct uplink_grant *g, uint64_t now);

/* Hands closed packets to the port. Returns their number. */
unsigned uplink_transmit(struct uplink *u);
