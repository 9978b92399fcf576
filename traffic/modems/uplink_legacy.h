/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants of modems before DOCSIS 3.0, for uplink_grant_fill(). */
#pragma once

#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"

/* Fills a grant with a fragment of the unit that the stream has begun, if any. Else with whole frames, or with the
 * first fragment of a new unit. Adds new packets to `made`. */
void uplink_legacy_fill(struct uplink_grant *g, struct uplink_frames *frames,
			struct uplink_made *made);
