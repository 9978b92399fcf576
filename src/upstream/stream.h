/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a stream. A segment may contain the end of one frame, whole frames and the start
 * of another. The stages extract and extract_joined use these steps. */
#pragma once

#include "upstream/frame_buffers.h"
#include "upstream/requests.h"
#include "upstream/shared.h"
#include "upstream/state/cursor.h"

/* The state that all streams share. */
struct us_streams {
	const struct us_resources *r;
	struct counters *counters;
	struct us_tables *tables;
	struct pending_set *pending_set;
	struct us_requests *requests;
	uint32_t max_pdu; /* bytes, CRC included */
	uint16_t control_vlan; /* of the control port; 0: none */
	struct us_frame_buffers buffers;
	uint32_t incomplete_frames; /* pending */
};

/* The list of complete frames. */
struct us_output {
	struct rte_mbuf **pkts;
	uint16_t n;
};

/*
 * Processes the next part at the cursor: a header, a body, padding, or bytes to skip. The cursor
 * must not be at the end.
 *
 * Returns at most one frame in `out`. Management messages go to the control port.
 */
void us_stream_step(struct us_streams *all, struct us_cursor *c, struct us_output *out);

/* Ends a segment and frees it. A frame in progress waits for the next segment. It ends if it
 * ends with its burst, or if the pointer contradicts it. */
void us_stream_end(struct us_streams *all, struct us_cursor *c);

/* Drops the incomplete frame of a stream; the stream continues at the next pointer. */
void us_frame_drop(struct us_streams *all, struct us_stream *s, enum drop_reason reason);

/* Drops an incomplete frame whose timer expired, or whose memory is needed (expire.c). */
void us_frame_expire(struct us_streams *all, struct pending *h, bool timeout);

/* Drops the incomplete frames of all streams. */
void us_streams_stop(struct us_streams *all);
