/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are not complete, as others need them beside the stage. */
#pragma once

#include "upstream/tables.h"

struct upstream;

/* Begins to take the frames out of joined fragments of the stream, which now belong to it. */
void us_joined_begin(struct upstream *u, const struct us_stream *s, struct rte_mbuf *m,
		     uint16_t channel);

/* Goes on with that: the next frame, or NULL where this step gave none. At the end of it
 * joined_cut.segment is NULL. */
struct rte_mbuf *us_joined_step(struct upstream *u);

/* Drops the segments that are not extracted yet, and the incomplete frames of all streams. */
void us_frames_stop(struct upstream *u);
