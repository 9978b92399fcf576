/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extract: DOCSIS frames out of segments.
 *
 * Frames that span segments are copied, as the crypto provider needs contiguous frames. Whole ones
 * stay in the buffer of the R-PHY port (frame_buffers.h). This file follows the pointers of
 * segments; stream.c processes the frames.
 */
#include "upstream/extract.h"

/* Most headers per call: a segment may contain hundreds that carry no packet. */
#define HEADER_BUDGET (4 * PIPELINE_BURST)

static void segment_end(struct us_extract *stage, struct us_cursor *c, bool orphan) {
	if (orphan)
		drop_count(stage->counters, c->segment, DROP_SEGMENT_ORPHAN);
	else
		count(stage->counters, COUNTER_EXTRACTED, 1);
	us_stream_end(stage->streams, c);
}

/* Prefetches `size` bytes. */
static void bytes_prefetch(const uint8_t *bytes, uint32_t size) {
	for (uint32_t at = 0; at < size; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0(bytes + at);
}

/* Prefetches the incomplete frame of a stream, which segments of other modems have displaced from
 * the cache, and its timer. */
static void stream_prefetch(const struct us_stream *s) {
	struct rte_mbuf *frame = s->frame;

	if (frame == NULL)
		return;
	rte_prefetch0(frame);
	rte_prefetch0(us_meta(frame));
	rte_prefetch0(&s->frame_pending);
}

/* Prefetches the space for the rest of an incomplete frame. */
static void rest_prefetch(const struct us_stream *s) {
	if (s->frame != NULL && s->phase == US_BODY)
		bytes_prefetch(
			rte_pktmbuf_mtod_offset(s->frame, const uint8_t *, s->frame->data_len),
			s->missing);
}

/* Prefetches the next segment with its stream, and the stream of the one after it. */
static void segments_prefetch(const struct us_extract *stage) {
	const struct us_stream *streams = stage->tables->streams;
	struct rte_mbuf *next = stage->segments->first, *after;

	if (next == NULL)
		return;
	after = *queue_next(next);
	if (after != NULL)
		stream_prefetch(&streams[us_meta(after)->segment.stream]);
	rest_prefetch(&streams[us_meta(next)->segment.stream]);
	for (; next != NULL; next = next->next)
		bytes_prefetch(rte_pktmbuf_mtod(next, const uint8_t *), next->data_len);
}

/* Takes the next segment out of the queue. Returns false if it is empty. */
static bool segment_begin(struct us_extract *stage, struct us_cursor *c) {
	struct rte_mbuf *m = queue_remove(stage->segments);
	const struct us_meta *meta;

	if (m == NULL)
		return false;
	segments_prefetch(stage);
	meta = us_meta(m);
	*c = (struct us_cursor){
		.segment = m,
		.m = m,
		.stream = &stage->tables->streams[meta->segment.stream],
		.left = m->pkt_len,
		.to_pointer = meta->segment.has_pointer ? meta->segment.pointer : US_NO_POINTER,
		.channel = meta->segment.channel,
		.request = meta->segment.request,
	};
	c->framed = stage->tables->flows[c->stream->flow].segment_header;
	c->aligned = !c->framed;
	if (meta->segment.gap)
		us_frame_drop(stage->streams, c->stream, DROP_FRAME_GAP);
	if (!c->framed || c->to_pointer != US_NO_POINTER)
		c->stream->lost = false;
	return true;
}

/* Whether the queues to the network port and of joined fragments are short enough; few fragments
 * may contain many frames. */
static bool may_extract(const struct us_extract *stage) {
	return !stage->paused && us_transmit_fits(stage->transmit, stage->joined->buffers);
}

uint16_t us_extract(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_extract *stage = ctx;
	struct us_cursor *c = &stage->cursor;
	struct us_output out = {.pkts = pkts};
	uint64_t max = stage->counters->values[COUNTER_FRAMES] + HEADER_BUDGET;

	(void)n; /* segments come from the queue */
	if (!may_extract(stage))
		return 0;
	while (out.n < PIPELINE_BURST && stage->counters->values[COUNTER_FRAMES] < max) {
		if (c->segment == NULL && !segment_begin(stage, c))
			break;
		if (c->stream->lost) {
			segment_end(stage, c, !c->used);
			continue;
		}
		while (c->left > 0 && out.n < PIPELINE_BURST && !c->stream->lost &&
		       stage->counters->values[COUNTER_FRAMES] < max)
			us_stream_step(stage->streams, c, &out);
		if (c->left == 0 || c->stream->lost)
			segment_end(stage, c, c->stream->lost && !c->used);
	}
	return out.n;
}

uint64_t us_extract_pending(const void *ctx, enum unit unit) {
	const struct us_extract *stage = ctx;

	switch (unit) {
	case UNIT_SEGMENT: return stage->segments->count + (stage->cursor.segment != NULL);
	case UNIT_FRAME: return stage->streams->incomplete_frames;
	default: return 0;
	}
}

void us_extract_stop(void *ctx) {
	struct us_extract *stage = ctx;

	if (stage->cursor.segment != NULL)
		drop(stage->counters, stage->cursor.segment, DROP_SEGMENT_STOPPED);
	stage->cursor.segment = NULL;
	us_streams_stop(stage->streams);
}
