/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extract joined: takes the frames out of joined fragments, in the clear, as extract does out of
 * segments.
 *
 * It processes one unit at a time. Frames behind a unit stay in the queue until all of its frames
 * have gone on.
 */
#include "upstream/extract_joined.h"

#define STEPS (4 * PIPELINE_BURST) /* most steps per call */

/* The unit waits for no part, but its buffers count against the limit of their pool. */
void us_joined_add(struct us_extract_joined *stage, struct rte_mbuf *unit) {
	us_meta(unit)->frame.joined = true;
	stage->units++;
	pending_reserve(stage->pending_set, PENDING_POOL_FRAMES, unit->nb_segs);
	queue_add(stage->joined, unit);
}

bool us_joined_queued(const struct us_extract_joined *stage) {
	return stage->cursor.segment != NULL || stage->joined->count > 0;
}

static void unit_free(struct us_extract_joined *stage, struct rte_mbuf *unit) {
	pending_release(stage->pending_set, PENDING_POOL_FRAMES, unit->nb_segs);
	rte_pktmbuf_free(unit);
}

static void unit_begin(struct us_extract_joined *stage, struct rte_mbuf *unit) {
	const struct us_flow *flow = &stage->tables->flows[us_meta(unit)->frame.flow];
	const struct us_stream *s = &stage->tables->streams[flow->streams[0]];

	stage->units--;
	/* a stream of its own: that of the flow may have an incomplete frame, or be in use by
	 * extract */
	stage->stream =
		(struct us_stream){.flow = s->flow, .modem = s->modem, .cluster = s->cluster};
	stage->cursor = (struct us_cursor){
		.segment = unit,
		.m = unit,
		.stream = &stage->stream,
		.left = unit->pkt_len,
		.to_pointer = US_NO_POINTER,
		.channel = us_meta(unit)->frame.channel,
		.joined = true,
		.aligned = true,
	};
}

/* Checks the privacy fields of a frame that was decrypted as fragments, and is in the clear now.
 * Returns false if it dropped the frame. */
static bool joined_is_good(struct us_extract_joined *stage, struct rte_mbuf *m) {
	const struct us_meta *meta = us_meta(m);

	if (meta->frame.privacy &&
	    !us_flow_has_sid(&stage->tables->flows[meta->frame.flow], meta->frame.sid)) {
		drop(stage->counters, m, DROP_PRIVACY_SID);
		return false;
	}
	if (meta->frame.encrypted) {
		drop(stage->counters, m, DROP_KEY_UNKNOWN);
		return false;
	}
	return us_clear_frame_accept(stage->decrypt, m);
}

/* The next frame of the unit, or NULL if this step returned none. */
static struct rte_mbuf *unit_step(struct us_extract_joined *stage) {
	struct us_cursor *c = &stage->cursor;
	struct rte_mbuf *frame = NULL;
	struct us_output out = {.pkts = &frame};

	if (c->left > 0)
		us_stream_step(stage->streams, c, &out);
	if (c->left == 0) {
		pending_release(stage->pending_set, PENDING_POOL_FRAMES, c->segment->nb_segs);
		us_stream_end(stage->streams, c);
		stage->done++;
	}
	return frame != NULL && joined_is_good(stage, frame) ? frame : NULL;
}

/* Whether one more frame may go on. Units have more frames than fragments, and all must fit the
 * queue to the network port with the frames in the crypto provider. */
static bool joined_fits(const struct us_extract_joined *stage, uint16_t kept) {
	return kept < 2 * PIPELINE_BURST && us_transmit_fits(stage->transmit, kept);
}

/* Appends frames of the queue to the burst. Frames that are no units go on unchanged. */
uint16_t us_extract_joined(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_extract_joined *stage = ctx;

	for (unsigned steps = STEPS; steps > 0 && us_joined_queued(stage) && joined_fits(stage, n);
	     steps--) {
		struct rte_mbuf *m;

		if (stage->cursor.segment != NULL) {
			m = unit_step(stage);
			if (m != NULL)
				pkts[n++] = m;
			continue;
		}
		m = queue_remove(stage->joined);
		if (us_meta(m)->frame.joined) {
			unit_begin(stage, m);
		} else {
			pkts[n++] = m;
			stage->done++;
		}
	}
	return n;
}

uint64_t us_extract_joined_pending(const void *ctx, enum unit unit) {
	const struct us_extract_joined *stage = ctx;

	if (unit != UNIT_FRAME)
		return 0;
	return (uint64_t)stage->joined->count - stage->units;
}

void us_extract_joined_stop(void *ctx) {
	struct us_extract_joined *stage = ctx;
	struct rte_mbuf *m;

	us_frame_drop(stage->streams, &stage->stream, DROP_STOPPED);
	if (stage->cursor.segment != NULL)
		unit_free(stage, stage->cursor.segment); /* its fragments were counted */
	stage->cursor.segment = NULL;
	while ((m = queue_remove(stage->joined)) != NULL) {
		if (us_meta(m)->frame.joined)
			unit_free(stage, m);
		else
			drop(stage->counters, m, DROP_STOPPED);
	}
	stage->units = 0;
}
