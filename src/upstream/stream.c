/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a stream, from header to last byte. No field of a header is used before its HCS
 * is verified. */
#include "upstream/stream.h"

#include "platform/pad.h"
#include "platform/vlan.h"
#include "upstream/frames.h"
#include "wire/crc32.h"

/* Enough for any ELEN, more than MULPI allows. */
#define HEADER_MAX (DOCSIS_MAC_HEADER + UINT8_MAX)

static void frame_set_size(struct rte_mbuf *m, uint32_t size) {
	m->data_len = (uint16_t)size;
	m->pkt_len = size;
}

/* Sends a frame to the control port. A MAC management message is an Ethernet frame with a length
 * field and an LLC header (MULPI, MAC management message header), which the control port gets. */
static void message_put_out(struct us_streams *all, struct rte_mbuf *m) {
	if (!ethernet_crc_good(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len)) {
		drop(all->counters, m, DROP_MANAGEMENT_CRC);
		return;
	}
	rte_pktmbuf_trim(m, ETHERNET_CRC_SIZE);
	packet_pad(m); /* succeeds, as the message has its own buffer */
	if (all->control_vlan != 0)
		packet_tag(m, all->control_vlan);
	if (unlikely(all->r->control.shut))
		drop(all->counters, m, (enum drop_reason)all->r->control.reason);
	else if (!packet_sink_is_set(&all->r->control))
		drop(all->counters, m, DROP_NO_CONTROL_PORT);
	else if (packet_sink_burst(&all->r->control, &m, 1) == 1)
		count(all->counters, COUNTER_MANAGEMENT, 1);
	else
		drop(all->counters, m, DROP_CONTROL_FULL);
}

/* Outputs a complete frame. The cursor is behind its last byte, in the buffer that contained it. */
static void frame_put_out(struct us_streams *all, const struct us_cursor *c, struct us_output *out,
			  struct rte_mbuf *m) {
	us_meta(m)->arrived = us_meta(c->m)->arrived;
	if (us_meta(m)->frame.management)
		message_put_out(all, m);
	else
		out->pkts[out->n++] = m;
}

static struct rte_mbuf *frame_detach(struct us_streams *all, struct us_stream *s) {
	struct rte_mbuf *m = s->frame;

	if (m != NULL)
		all->incomplete_frames--;
	s->frame = NULL;
	s->phase = US_BOUNDARY;
	return m;
}

/* Detaches the stream's frame, which is complete or ended. */
static struct rte_mbuf *frame_release(struct us_streams *all, struct us_stream *s) {
	pending_clear(all->pending_set, &s->frame_pending);
	return frame_detach(all, s);
}

void us_frame_drop(struct us_streams *all, struct us_stream *s, enum drop_reason reason) {
	struct rte_mbuf *m = frame_release(all, s);

	if (m != NULL) {
		us_meta(m)->frame.flow =
			s->flow & 0xffffff; /* the metadata of a header alone is not filled in */
		drop(all->counters, m, reason);
	}
	s->lost = true;
}

void us_frame_expire(struct us_streams *all, struct pending *h, bool timeout) {
	us_frame_drop(all, PENDING_OF(struct us_stream, frame_pending, h),
		      timeout ? DROP_FRAME_TIMEOUT : DROP_FRAME_LIMIT);
}

static void stream_skip_bytes(struct us_streams *all, struct us_cursor *c, uint32_t size) {
	count(all->counters, COUNTER_RESYNC_BYTES, size);
	us_cursor_skip(c, size);
}

/* Continues at the pointer if that is ahead, else with the next segment. */
static void stream_lose(struct us_streams *all, struct us_cursor *c) {
	bool ahead = c->to_pointer != US_NO_POINTER;

	c->stream->lost = !ahead;
	stream_skip_bytes(all, c, ahead ? c->to_pointer : c->left);
}

/*
 * The pointer contradicts the frame in progress: drops the frame and continues at the pointer.
 *
 * All bytes before the pointer count as skipped, also those that the frame's header took.
 */
static void stream_contradiction(struct us_streams *all, struct us_cursor *c) {
	count(all->counters, COUNTER_RESYNC_BYTES, c->segment->pkt_len - c->left);
	us_frame_drop(all, c->stream, DROP_FRAME_POINTER);
	stream_lose(all, c);
}

/* Whether the frame in progress does not end at the pointer, as it must. */
static bool stream_contradicts(const struct us_cursor *c) {
	return c->to_pointer != US_NO_POINTER && c->to_pointer != c->stream->missing;
}

/* Processes the next bytes of a PDU, or of a dropped frame. */
static void stream_continue(struct us_streams *all, struct us_cursor *c, struct us_output *out) {
	struct us_stream *s = c->stream;
	uint32_t part;

	if (stream_contradicts(c)) {
		stream_contradiction(all, c);
		return;
	}
	part = RTE_MIN(s->missing, c->left);
	s->missing -= part;
	c->used = true;
	if (s->phase == US_SKIP) {
		us_cursor_skip(c, part);
		if (s->missing == 0)
			s->phase = US_BOUNDARY;
		return;
	}
	us_cursor_copy(c, rte_pktmbuf_mtod_offset(s->frame, uint8_t *, s->frame->data_len), part);
	frame_set_size(s->frame, s->frame->data_len + part);
	if (s->missing == 0)
		frame_put_out(all, c, out, frame_release(all, s));
}

/* Skips `size` more bytes of a frame; 0 if the frame was a header only. */
static void stream_skip_frame(struct us_streams *all, struct us_cursor *c, uint32_t size) {
	c->stream->missing = size;
	c->stream->phase = size > 0 ? US_SKIP : US_BOUNDARY;
	if (size == 0 && stream_contradicts(c))
		stream_contradiction(all, c);
}

/* Copies a PDU that ends in the segment to the empty buffer `m`, or begins a frame in `m`. */
static void frame_copy_pdu(struct us_streams *all, struct us_cursor *c, struct us_output *out,
			   uint32_t size, const struct docsis_mac *mac, struct rte_mbuf *m) {
	struct us_stream *s = c->stream;

	us_frame_describe(m, c, mac);
	if (size <= c->left && c->to_pointer == US_NO_POINTER) {
		us_cursor_copy(c, rte_pktmbuf_mtod(m, uint8_t *), size);
		frame_set_size(m, size);
		frame_put_out(all, c, out, m);
		return;
	}
	s->frame = m;
	s->missing = size;
	s->phase = US_BODY;
	all->incomplete_frames++;
}

/* Takes the PDU behind the header. `m` may be a buffer for it, or NULL. Returns false if no
 * buffer is free. */
static bool frame_start_pdu(struct us_streams *all, struct us_cursor *c, struct us_output *out,
			    const struct docsis_mac *mac, struct rte_mbuf *m) {
	uint32_t size = us_frame_pdu(mac);

	if (m == NULL) {
		m = us_frame_attach(&all->buffers, c, mac, size);
		if (m != NULL) {
			us_frame_describe(m, c, mac);
			frame_put_out(all, c, out, m);
			return true;
		}
		m = us_frame_buffer(&all->buffers);
	}
	if (m != NULL)
		frame_copy_pdu(all, c, out, size, mac, m);
	return m != NULL;
}

/* Processes a complete header, of which the last `in_segment` bytes are in this segment; the cursor
 * is behind it. `m` may be a buffer for the frame, or NULL. */
static void stream_header_done(struct us_streams *all, struct us_cursor *c, struct us_output *out,
			       enum docsis_verdict verdict, const struct docsis_mac *mac,
			       struct rte_mbuf *m, uint32_t in_segment) {
	enum us_frame_action action = us_frame_check(all, c, verdict, mac);

	if (action == US_FRAME_FORWARD && frame_start_pdu(all, c, out, mac, m))
		return;
	rte_pktmbuf_free(m);
	if (action == US_FRAME_FORWARD)
		drop_count(all->counters, c->segment, DROP_FRAME_NO_BUFFER);
	if (action == US_FRAME_RESYNC) {
		count(all->counters, COUNTER_RESYNC_BYTES, in_segment);
		stream_lose(all, c);
	} else if (action == US_FRAME_FORWARD || action == US_FRAME_SKIP) {
		stream_skip_frame(all, c, us_frame_pdu(mac));
	}
}

static bool header_incomplete(enum docsis_verdict verdict, const struct docsis_mac *mac) {
	return verdict == DOCSIS_TRUNCATED && mac->header_size == 0;
}

/* Keeps the start of a header at the end of a segment; the rest is in the next segment. */
static void stream_header_begin(struct us_streams *all, struct us_cursor *c) {
	struct us_stream *s = c->stream;
	struct rte_mbuf *m = us_frame_buffer(&all->buffers);
	uint32_t size = c->left;

	if (m == NULL) {
		drop_count(all->counters, c->segment, DROP_FRAME_NO_BUFFER);
		stream_lose(all, c);
		return;
	}
	us_cursor_copy(c, rte_pktmbuf_mtod(m, uint8_t *), size);
	frame_set_size(m, size);
	s->frame = m;
	s->phase = US_HEADER;
	all->incomplete_frames++;
}

static void stream_header_continue(struct us_streams *all, struct us_cursor *c,
				   struct us_output *out) {
	struct us_stream *s = c->stream;
	uint8_t *header = rte_pktmbuf_mtod(s->frame, uint8_t *);
	uint32_t have = s->frame->data_len;
	uint32_t needs = us_frame_header_needs(header, have);
	uint32_t part = RTE_MIN(needs - have, c->left);
	struct docsis_mac mac;
	enum docsis_verdict verdict;
	struct rte_mbuf *m;

	if (c->to_pointer != US_NO_POINTER && c->to_pointer < needs - have) {
		stream_contradiction(all, c);
		return;
	}
	c->used = true;
	us_cursor_copy(c, header + have, part);
	frame_set_size(s->frame, have + part);
	verdict = docsis_mac_parse(header, have + part, &mac);
	if (header_incomplete(verdict, &mac))
		return;
	if ((verdict == DOCSIS_OK || verdict == DOCSIS_TRUNCATED) && us_frame_is_header(&mac) &&
	    c->to_pointer != US_NO_POINTER && c->to_pointer != 0) {
		us_frame_requests(all, c, &mac);
		stream_contradiction(all, c);
		return;
	}
	m = frame_detach(all, s);
	frame_set_size(m, 0); /* the PDU replaces the header */
	/* The header began with the segment, and may have been read in several steps. */
	stream_header_done(all, c, out, verdict, &mac, m, c->segment->pkt_len - c->left);
	if (s->frame == NULL) /* else the timer runs on from the start of the header */
		pending_clear(all->pending_set, &s->frame_pending);
}

static void stream_frame_begin(struct us_streams *all, struct us_cursor *c, struct us_output *out) {
	uint8_t buffer[HEADER_MAX];
	uint32_t size = us_cursor_piece(c);
	struct docsis_mac mac;
	enum docsis_verdict verdict = docsis_mac_parse(us_cursor_bytes(c), size, &mac);

	count(all->counters, COUNTER_FRAMES, 1);
	c->used = true;
	if (header_incomplete(verdict, &mac) && size < c->left) {
		size = us_cursor_peek(c, buffer, sizeof(buffer));
		verdict = docsis_mac_parse(buffer, size, &mac);
	}
	if (header_incomplete(verdict, &mac)) {
		stream_header_begin(all, c);
		return;
	}
	if (verdict != DOCSIS_BAD_HCS)
		us_cursor_skip(c, mac.header_size);
	stream_header_done(all, c, out, verdict, &mac, NULL, mac.header_size);
}

/* Whether the rest of the segment is padding. */
static bool cursor_is_padding(struct us_cursor *c) {
	static const uint8_t zeroes[DOCSIS_MAC_HEADER];
	uint8_t bytes[DOCSIS_MAC_HEADER];
	uint32_t size;

	us_cursor_piece(c);
	if (*us_cursor_bytes(c) != 0)
		return *us_cursor_bytes(c) == 0xff;
	size = us_cursor_peek(c, bytes, sizeof(bytes));
	return size == sizeof(bytes) && memcmp(bytes, zeroes, sizeof(bytes)) == 0;
}

/* Between two frames: skips bytes before the pointer or padding, or begins a frame. */
static void stream_boundary(struct us_streams *all, struct us_cursor *c, struct us_output *out) {
	if (c->to_pointer != US_NO_POINTER) {
		stream_skip_bytes(all, c, c->to_pointer);
		c->to_pointer = US_NO_POINTER;
		c->aligned = true;
		return;
	}
	if (cursor_is_padding(c)) {
		count(all->counters, COUNTER_PADDING_BYTES, c->left);
		c->used = true;
		us_cursor_skip(c, c->left);
		return;
	}
	if (c->aligned)
		stream_frame_begin(all, c, out);
	else if (c->used)
		stream_lose(all, c);
	else
		c->stream->lost = true; /* no byte of the segment was used */
}

void us_stream_step(struct us_streams *all, struct us_cursor *c, struct us_output *out) {
	switch (c->stream->phase) {
	case US_BOUNDARY: stream_boundary(all, c, out); return;
	case US_HEADER: stream_header_continue(all, c, out); return;
	case US_BODY:
	case US_SKIP: stream_continue(all, c, out); return;
	}
}

void us_stream_end(struct us_streams *all, struct us_cursor *c) {
	struct us_stream *s = c->stream;

	if (!c->framed && s->phase != US_BOUNDARY)
		us_frame_drop(all, s, DROP_FRAME_TRUNCATED);
	/* the segment had no byte left that would have shown it */
	if (c->to_pointer == 0 && s->phase != US_BOUNDARY)
		stream_contradiction(all, c);
	if (s->frame != NULL && s->frame_pending.size.bytes == 0)
		pending_add(all->pending_set, &s->frame_pending, pending_size(s->frame),
			    all->r->clock->now);
	rte_pktmbuf_free(c->segment);
	c->segment = NULL;
}

void us_streams_stop(struct us_streams *all) {
	for (uint32_t s = 0; s < all->tables->stream_count; s++)
		us_frame_drop(all, &all->tables->streams[s], DROP_STOPPED);
	us_frame_buffers_stop(&all->buffers);
}
