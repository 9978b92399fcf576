/* SPDX-License-Identifier: BSD-3-Clause */
/* What a modem does with a grant: with segment headers (uplink_segment.c), or as modems before DOCSIS 3.0
 * do (uplink_legacy.c). */
#pragma once

#include <stdbool.h>

#include "modems/uplink_flow.h"
#include "modems/uplink_frames.h"

/*
 * Fills a grant with what is left and, unless `finish`, with new frames. They are not encrypted
 * before uplink_encrypt() is through.
 */
void uplink_grant_fill(struct uplink_grant *g, struct uplink_flows *flows,
		       struct uplink_frames *frames, bool finish, struct uplink_made *made);

/* Makes the burst of a filled grant whose frames are encrypted: sets payload and payload_size. */
void uplink_grant_cut(struct uplink_grant *g);
