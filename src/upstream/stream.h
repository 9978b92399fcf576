/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a stream, of which a segment may hold the end of one, whole ones and a beginning. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/counters.h"
#include "upstream/cut.h"
#include "upstream/tables.h"

struct upstream;

/* Where complete frames go; each of the functions below puts out one at most. */
struct us_output {
	struct rte_mbuf **pkts;
	uint16_t n;
	bool joined; /* frames out of fragments */
};

/* At a frame's place: reads its header, and takes what there is of it. */
void us_stream_frame_begin(struct upstream *u, struct us_cut *c, struct us_output *out);

/* In the phases US_HEADER, and US_BODY or US_PASS: the bytes that come next. */
void us_stream_header_go_on(struct upstream *u, struct us_cut *c, struct us_output *out);
void us_stream_go_on(struct upstream *u, struct us_cut *c, struct us_output *out);

/* The pointer says otherwise than the frame in progress: the frame ends, the stream goes on there. */
void us_stream_contradiction(struct upstream *u, struct us_cut *c);

/* Nothing tells where the next frame begins but a pointer: in this segment, or in a later one. */
void us_stream_lose(struct upstream *u, struct us_cut *c);

/* Passes over bytes on the way to a frame's beginning. */
void us_stream_pass_bytes(struct upstream *u, struct us_cut *c, uint32_t size);

/* Drops the incomplete frame of a stream; the stream goes on at the next pointer. */
void us_frame_drop(struct upstream *u, struct us_stream *s, enum drop_reason reason);
