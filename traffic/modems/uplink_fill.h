/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills a grant as modems do: with segment headers (uplink_segment.c), or as before DOCSIS 3.0
 * (uplink_legacy.c). */
#pragma once

#include <stdbool.h>

#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"

/* Fills a grant with left-over bytes and, unless `rest_only`, with new packets, which it adds to `made`. With
 * `rest_only` the stream must have an unfinished frame. The frames are encrypted when uplink_encrypt() returns. */
void uplink_grant_fill(struct uplink_grant *g, struct uplink_flows *flows,
		       struct uplink_frames *frames, bool rest_only, struct uplink_made *made);

/* Makes the burst of a filled grant with encrypted frames: sets payload and payload_size. Each filled grant of a
 * stream must be finished once, in the order of filling. */
void uplink_grant_finish(struct uplink_grant *g);
