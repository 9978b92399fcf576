/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a stream, of which a segment may hold the end of one, whole ones and a beginning. What
 * takes segments apart, and joined fragments, goes by these steps. */
#pragma once

#include "upstream/frame_buffers.h"
#include "upstream/requests.h"
#include "upstream/shared.h"
#include "upstream/state/cut.h"

/* What all streams share. */
struct us_streams {
	const struct us_resources *r;
	struct counters *counters;
	struct us_tables *tables;
	struct holds *holds;
	struct us_requests *requests;
	uint32_t max_pdu; /* bytes, CRC included */
	uint16_t control_vlan; /* of the control port; 0: none */
	struct us_frame_buffers buffers;
	uint32_t incomplete_frames; /* held */
};

/* Where complete frames go. */
struct us_output {
	struct rte_mbuf **pkts;
	uint16_t n;
};

/* The next part at the place, which is not at the end: a header, a body, padding, or what is passed over.
 * Puts out one frame at most; management messages go to the control port. */
void us_stream_step(struct us_streams *all, struct us_cut *c, struct us_output *out);

/* The end of a segment, which is freed: a frame in progress waits for the next one, or ends with its
 * burst, or where the pointer says that another one begins. */
void us_stream_end(struct us_streams *all, struct us_cut *c);

/* Drops the incomplete frame of a stream; the stream goes on at the next pointer. */
void us_frame_drop(struct us_streams *all, struct us_stream *s, enum drop_reason reason);

/* Ends the wait of an incomplete frame (expire.c). */
void us_frame_expire(struct us_streams *all, struct hold *h, bool timeout);

/* Drops the incomplete frames of all streams. */
void us_streams_stop(struct us_streams *all);
