/* SPDX-License-Identifier: BSD-3-Clause */
/* What a struct uplink is made of, for the files that implement it. */
#pragma once

#include "core/pacing.h"
#include "directions/uplink.h"
#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"
#include "modems/uplink_grant.h"
#include "rphy/uplink_rphy.h"

#define UPLINK_GRANTS 16 /* in one round */

struct uplink {
	struct uplink_flows flows;
	struct uplink_frames frames;
	struct uplink_rphy rphy;
	struct pacing pacing;
	struct key_store keys;
	uint64_t rate; /* as it was asked for */
	struct mix mix;
	bool follows; /* the service group will change */
	struct rte_mempool *buffers; /* for the frames of a grant */
	struct uplink_grant grants[UPLINK_GRANTS];
	unsigned grant_count; /* filled and not yet cut */
	uint32_t grant_size; /* bytes, of a grant */
	uint32_t grant_room; /* of the largest that there may be */
	double lowest; /* rate: below it, frames would not be complete in time if turns were kept */
	bool stopping;
	struct impair *impair; /* NULL: nothing goes wrong */
	struct uplink_refused *refused; /* NULL: nothing has to be dropped */
	struct grants
		*scheduled; /* modems wait for their grants; NULL: grants come of themselves */
	unsigned stock_taken; /* buffers that what is filled takes, at most */
	uint32_t part_sent; /* bytes of the burst at hand */
	uint64_t
		patience; /* TSC until which modems may still wait after the end; 0: it has not come */
	bool impatient; /* that is over */
	uint32_t calm; /* grants to give before it ends */
};

/* Cuts the burst of a filled and encrypted grant, and gives it to the R-PHY device. */
void uplink_grant_send(struct uplink *u, struct uplink_grant *g, uint64_t now);

/* Hands what is closed to the port. Returns packets. */
unsigned uplink_transmit(struct uplink *u);
