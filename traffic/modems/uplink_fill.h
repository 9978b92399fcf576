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

/* The two kinds of flows, for uplink_grant_fill() and uplink_grant_cut(). */
void uplink_segment_fill(struct uplink_grant *g, struct uplink_frames *frames, bool finish,
			 struct uplink_made *made);
void uplink_segment_cut(struct uplink_grant *g);
void uplink_legacy_fill(struct uplink_grant *g, struct uplink_frames *frames,
			struct uplink_made *made);

/* What struct frame_impairer is told by both, where there is one. */
static inline void frame_choose(const struct uplink_frames *frames, const struct uplink_grant *g,
				struct uplink_frame *f) {
	if (frames->impairer != NULL)
		frames->impairer->choose(frames->impair, g, f);
}

static inline void frame_made(const struct uplink_frames *frames, struct uplink_grant *g,
			      const struct uplink_frame *f, uint32_t sequence, uint32_t at,
			      uint32_t size) {
	if (frames->impairer != NULL)
		frames->impairer->made(frames->impair, g, f, sequence, at, size);
}

static inline void frame_plain_made(const struct uplink_frames *frames,
				    const struct uplink_grant *g, enum docsis_kind kind,
				    uint32_t size) {
	if (frames->impairer != NULL)
		frames->impairer->plain_made(frames->impair, g, kind, size);
}
