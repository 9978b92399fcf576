/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the two halves of uplink_rig_prove(): bursts and segments, and the frames in them. */
#pragma once

#include "uplink_rig.h"

/* Where the frames of a stream are read, in order. */
struct reader {
	struct uplink_rig *r;
	struct rig_stream *stream;
	uint32_t index;
	const struct modem *modem;
	const struct upstream_service_flow *flow;
	const struct sid_cluster *cluster;
	uint8_t unit[UPLINK_RIG_BURST_MAX]; /* fragments so far */
	uint32_t unit_size;
	uint32_t fragments; /* in it */
};

/* Reads whole frames, proves their packets and returns how many bytes they have. `joined`: they were
 * in fragments. */
uint32_t rig_frames_read(struct reader *reader, const uint8_t *bytes, uint32_t size, bool joined);
