/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extract: the DOCSIS frames out of segments, also those that span several. Each is copied into a
 * buffer of its own: the crypto device needs it in one piece, and nothing of it keeps the large
 * buffers of the R-PHY port. What a segment says of where frames begin is kept to here; the frames
 * themselves are in stream.c.
 */
#include "upstream/extract.h"

#include "upstream/give_up.h"
#include "upstream/stages.h"
#include "upstream/stream.h"
#include "upstream/upstream.h"
#include "wire/docsis_mac.h"

/* Headers that are looked at in one call: a segment may hold hundreds that carry no packet. */
#define HEADER_BUDGET (4 * PIPELINE_BURST)

/* Bytes behind the last frame of a segment. */
static bool is_padding(struct us_cut *c) {
	static const uint8_t zeroes[DOCSIS_MAC_HEADER];
	uint8_t bytes[DOCSIS_MAC_HEADER];
	uint32_t size;

	us_cut_piece(c);
	if (*us_cut_bytes(c) != 0)
		return *us_cut_bytes(c) == 0xff;
	size = us_cut_peek(c, bytes, sizeof(bytes));
	return size == sizeof(bytes) && memcmp(bytes, zeroes, sizeof(bytes)) == 0;
}

/* Between two frames. */
static void boundary(struct upstream *u, struct us_cut *c, struct us_output *out) {
	if (c->to_pointer != US_NO_POINTER) {
		us_stream_pass_bytes(u, c, c->to_pointer);
		c->to_pointer = US_NO_POINTER;
		c->begun = true;
		return;
	}
	if (is_padding(c)) {
		count(&u->counters, COUNTER_PADDING_BYTES, c->left);
		c->used = true;
		us_cut_pass(c, c->left);
		return;
	}
	if (c->begun)
		us_stream_frame_begin(u, c, out);
	else if (c->used)
		us_stream_lose(u, c);
	else
		c->stream->lost = true; /* no byte of the segment is of use */
}

static void segment_end(struct upstream *u, struct us_cut *c, bool orphan) {
	struct us_stream *s = c->stream;

	if (!c->framed && s->phase != US_BOUNDARY) {
		us_frame_drop(u, s, DROP_FRAME_TRUNCATED);
		s->lost = false; /* the next burst begins with a frame */
	}
	if (s->frame != NULL && s->frame_hold.size.bytes == 0)
		hold_add(&u->holds, &s->frame_hold, hold_size(s->frame), u->r.clock->now);
	if (orphan)
		u->counters.drops[DROP_SEGMENT_ORPHAN]++;
	else if (!c->joined)
		count(&u->counters, COUNTER_EXTRACTED, 1);
	if (c->joined)
		u->holds.buffers[HOLD_POOL_FRAMES] -= c->segment->nb_segs;
	rte_pktmbuf_free(c->segment);
	c->segment = NULL;
	us_relieve_modem(u, s->modem);
}

/* Opens the next segment. Returns false where there is none. */
static bool segment_begin(struct upstream *u, struct us_cut *c) {
	struct rte_mbuf *m = us_queue_take(&u->segments);
	const struct us_meta *meta;

	if (m == NULL)
		return false;
	meta = us_meta(m);
	*c = (struct us_cut){
		.segment = m,
		.m = m,
		.stream = &u->tables.streams[meta->segment.stream],
		.left = m->pkt_len,
		.to_pointer = meta->segment.has_pointer ? meta->segment.pointer : US_NO_POINTER,
		.channel = meta->segment.channel,
	};
	c->framed = u->tables.flows[c->stream->flow].segment_header;
	c->begun = !c->framed;
	if (meta->segment.gap)
		us_frame_drop(u, c->stream, DROP_FRAME_GAP);
	if (!c->framed || c->to_pointer != US_NO_POINTER)
		c->stream->lost = false;
	if (c->left == 0 && c->to_pointer == 0 && c->stream->phase != US_BOUNDARY)
		us_stream_contradiction(u, c); /* no byte is left to find that out from */
	return true;
}

static void step(struct upstream *u, struct us_cut *c, struct us_output *out) {
	switch (c->stream->phase) {
	case US_BOUNDARY: boundary(u, c, out); return;
	case US_HEADER: us_stream_header_go_on(u, c, out); return;
	case US_BODY:
	case US_PASS: us_stream_go_on(u, c, out); return;
	}
}

uint16_t us_extract(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	struct us_cut *c = &u->cut;
	struct us_output out = {.pkts = pkts};
	uint64_t most = u->counters.values[COUNTER_FRAMES] + HEADER_BUDGET;

	(void)n; /* reassemble leaves nothing: segments come by the queue */
	us_relieve(u);
	if (u->waiting_count + u->in_crypto + u->behind.count >= US_TRANSMIT_CAPACITY / 2)
		return 0; /* the network port is behind, or a few fragments were many frames */
	while (out.n < PIPELINE_BURST && u->counters.values[COUNTER_FRAMES] < most) {
		if (c->segment == NULL && !segment_begin(u, c))
			break;
		if (c->stream->lost) {
			segment_end(u, c, !c->used);
			continue;
		}
		while (c->left > 0 && out.n < PIPELINE_BURST && !c->stream->lost &&
		       u->counters.values[COUNTER_FRAMES] < most)
			step(u, c, &out);
		if (c->left == 0 || c->stream->lost)
			segment_end(u, c, c->stream->lost && !c->used);
	}
	return out.n;
}

void us_joined_begin(struct upstream *u, const struct us_stream *s, struct rte_mbuf *m,
		     uint16_t channel) {
	/* one of its own: the flow's may have an incomplete frame, or be in work */
	u->joined_stream =
		(struct us_stream){.flow = s->flow, .modem = s->modem, .cluster = s->cluster};
	u->holds.buffers[HOLD_POOL_FRAMES] +=
		m->nb_segs; /* nothing is waited for, but they are in use */
	u->joined_cut = (struct us_cut){
		.segment = m,
		.m = m,
		.stream = &u->joined_stream,
		.left = m->pkt_len,
		.to_pointer = US_NO_POINTER,
		.channel = channel,
		.joined = true,
		.begun = true,
	};
}

struct rte_mbuf *us_joined_step(struct upstream *u) {
	struct us_cut *c = &u->joined_cut;
	struct rte_mbuf *frame = NULL;
	struct us_output out = {.pkts = &frame, .joined = true};

	if (c->left > 0)
		step(u, c, &out);
	if (c->left == 0)
		segment_end(u, c, false);
	return frame;
}

void us_frames_stop(struct upstream *u) {
	struct rte_mbuf *m;

	if (u->cut.segment != NULL)
		drop(&u->counters, u->cut.segment, DROP_SEGMENT_STOPPED);
	u->cut.segment = NULL;
	while ((m = us_queue_take(&u->segments)) != NULL)
		drop(&u->counters, m, DROP_SEGMENT_STOPPED);
	for (uint32_t s = 0; s < u->tables.stream_count; s++)
		us_frame_drop(u, &u->tables.streams[s], DROP_STOPPED);
	us_frame_drop(u, &u->joined_stream, DROP_STOPPED);
	if (u->joined_cut.segment != NULL)
		u->holds.buffers[HOLD_POOL_FRAMES] -= u->joined_cut.segment->nb_segs;
	rte_pktmbuf_free(u->joined_cut.segment); /* counted as fragments */
	u->joined_cut.segment = NULL;
	rte_pktmbuf_free_bulk(u->stock, u->stock_count);
	u->stock_count = 0;
}
