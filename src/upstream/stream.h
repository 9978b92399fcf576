/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a stream, of which a segment may hold the end of one, whole ones and a beginning. What
 * takes segments apart, and joined fragments, goes by these steps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/counters.h"
#include "upstream/frame_buffers.h"
#include "upstream/state/cut.h"
#include "upstream/state/tables.h"

struct upstream;

/* What all streams share. */
struct us_streams {
	struct us_stock rooms; /* for frames that are copied */
	struct us_stock places; /* for frames that stay where they are */
	uint32_t incomplete_frames;
};

/* Where complete frames go. */
struct us_output {
	struct rte_mbuf **pkts;
	uint16_t n;
};

/* The next part at the place, which is not at the end: a header, a body, padding, or what is passed over.
 * Puts out one frame at most; management messages go to the control port. */
void us_stream_step(struct upstream *u, struct us_cut *c, struct us_output *out);

/* The end of a segment, which is freed: a frame in progress waits for the next one, or ends with its
 * burst, or where the pointer says that another one begins. */
void us_stream_end(struct upstream *u, struct us_cut *c);

/* Drops the incomplete frame of a stream; the stream goes on at the next pointer. */
void us_frame_drop(struct upstream *u, struct us_stream *s, enum drop_reason reason);

/* Ends the wait of an incomplete frame (expire.c). */
void us_frame_expire(struct upstream *u, struct hold *h, bool timeout);

/* Drops the incomplete frames of all streams. */
void us_streams_stop(struct upstream *u);
