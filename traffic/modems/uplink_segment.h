/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grants of flows with segment headers, for uplink_grant_fill() and uplink_grant_finish(). Filling
 * reserves space for the rest of the previous grant, which may not be encrypted yet. uplink_encrypt() must follow, then
 * finishing: it copies the rest and writes the segment header. Each filled grant of a stream must be finished once, in
 * the order of filling.
 */
#pragma once

#include <stdbool.h>

#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"

/* `rest_only`: adds no new packets, only the rest of a frame and, with `g->management`, a RNG-REQ and a request
 * frame. */
void uplink_segment_fill(struct uplink_grant *g, struct uplink_frames *frames, bool rest_only,
			 struct uplink_made *made);

/* Sets `g->payload` and `g->payload_size`, valid until the buffer is filled again. Counts the segment's sequence
 * number. */
void uplink_segment_finish(struct uplink_grant *g);
