/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are not complete, as others need them beside the stage. */
#pragma once

#include "pipeline/counters.h"
#include "upstream/queue.h"
#include "upstream/tables.h"

struct upstream;

/* Drops the incomplete frame of a stream; the stream goes on at the next pointer. */
void us_frame_drop(struct upstream *u, struct us_stream *s, enum drop_reason reason);

/* Takes the frames out of joined fragments of the stream, which it frees; they go into `out`. */
void us_extract_joined(struct upstream *u, const struct us_stream *s, struct rte_mbuf *m,
		       uint16_t channel, struct us_queue *out);

/* Drops the segments that are not extracted yet, and the incomplete frames of all streams. */
void us_frames_stop(struct upstream *u);
