/* SPDX-License-Identifier: BSD-3-Clause */
/* Grants of flows with segment headers, for uplink_grant_fill() and uplink_grant_finish().
 * `finish`: no new packets, only the rest of a frame and management messages. */
#pragma once

#include <stdbool.h>

#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"

void uplink_segment_fill(struct uplink_grant *g, struct uplink_frames *frames, bool finish,
			 struct uplink_made *made);
void uplink_segment_finish(struct uplink_grant *g);
