/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of segments, and whose a SID is, as others need them beside the stage. */
#pragma once

#include "upstream/tables.h"

struct upstream;

/* Gives up the first gap of a stream. */
void us_segments_skip(struct upstream *u, struct us_stream *s);

/* Drops the segments that wait in all streams. */
void us_segments_stop(struct upstream *u);

/* The stream that a SID on a channel belongs to; NULL where no modem has it. */
struct us_stream *us_stream_of_sid(struct upstream *u, uint32_t channel, uint16_t sid);
