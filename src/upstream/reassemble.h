/* SPDX-License-Identifier: BSD-3-Clause */
/* The row `reassemble`: SID to service flow, segments in order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hold;
struct us_stream;
struct upstream;

/* What of it is held; the segments themselves are with their streams, in tables.h. */
struct us_reassemble {
	uint32_t waiting_segments;
};

/* Ends a wait of segments that are ahead (expire.c). */
void us_segments_expire(struct upstream *u, struct hold *h);

/* Drops the segments that wait in a stream that goes, within the budget. Returns whether that was all. */
bool us_segments_remove(struct upstream *u, struct us_stream *s, int *budget);
