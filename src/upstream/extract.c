/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extract: the DOCSIS frames out of segments, also those that span several. Each is copied into a
 * buffer of its own: the crypto device needs it in one piece, and nothing of it keeps the large
 * buffers of the R-PHY port. The HCS is verified here, as nothing in a header is believed before.
 */
#include "upstream/extract.h"

#include "upstream/decrypt.h"
#include "upstream/frames.h"
#include "upstream/give_up.h"
#include "upstream/management.h"
#include "upstream/stages.h"
#include "upstream/upstream.h"

/* Whatever ELEN says; more than MULPI allows. */
#define HEADER_ROOM (DOCSIS_MAC_HEADER + UINT8_MAX)

/* Headers that are looked at in one call: a segment may hold hundreds that carry no packet. */
#define HEADER_BUDGET (4 * PIPELINE_BURST)

/* The burst that is put out. */
struct output {
	struct rte_mbuf **pkts;
	uint16_t n;
	bool joined; /* frames out of fragments */
};

static struct rte_mbuf *buffer(struct upstream *u) {
	if (u->stock_count == 0 && rte_pktmbuf_alloc_bulk(u->r.frames, u->stock, US_STOCK) == 0)
		u->stock_count = US_STOCK;
	return u->stock_count > 0 ? u->stock[--u->stock_count] : rte_pktmbuf_alloc(u->r.frames);
}

static void set_size(struct rte_mbuf *m, uint32_t size) {
	m->data_len = (uint16_t)size;
	m->pkt_len = size;
}

static void put_out(struct upstream *u, struct output *out, struct rte_mbuf *m) {
	if (us_meta(m)->frame.management)
		us_management(u, m);
	else if (!out->joined || us_take_joined(u, m))
		out->pkts[out->n++] = m;
}

static void hold_end(struct upstream *u, struct us_stream *s) {
	if (s->frame_hold.bytes > 0)
		hold_remove(&u->holds, &s->frame_hold, s->frame_hold.bytes);
}

static struct rte_mbuf *detach(struct upstream *u, struct us_stream *s) {
	struct rte_mbuf *m = s->frame;

	if (m != NULL)
		u->incomplete_frames--;
	s->frame = NULL;
	s->phase = US_BOUNDARY;
	return m;
}

/* The stream's frame is complete or ended. */
static struct rte_mbuf *release(struct upstream *u, struct us_stream *s) {
	hold_end(u, s);
	return detach(u, s);
}

void us_frame_drop(struct upstream *u, struct us_stream *s, enum drop_reason reason) {
	struct rte_mbuf *m = release(u, s);

	if (m != NULL)
		drop(&u->counters, m, reason);
	s->lost = true;
}

static void pass_bytes(struct upstream *u, struct us_cut *c, uint32_t size) {
	count(&u->counters, COUNTER_RESYNC_BYTES, size);
	us_cut_pass(c, size);
}

/* Goes on at the pointer, if that is still ahead, or with the next segment. */
static void lose(struct upstream *u, struct us_cut *c) {
	bool ahead = c->to_pointer != US_NO_POINTER;

	c->stream->lost = c->framed && !ahead;
	pass_bytes(u, c, ahead ? c->to_pointer : c->left);
}

/* All bytes before the pointer are passed over, those too that the frame's header took. */
static void contradiction(struct upstream *u, struct us_cut *c) {
	count(&u->counters, COUNTER_RESYNC_BYTES, c->segment->pkt_len - c->left);
	us_frame_drop(u, c->stream, DROP_FRAME_POINTER);
	lose(u, c);
}

/* What is missing of the frame in progress must end where the pointer says. */
static bool contradicts(const struct us_cut *c) {
	return c->to_pointer != US_NO_POINTER && c->to_pointer != c->stream->missing;
}

/* The next bytes of a PDU, or of a frame that is passed over. */
static void go_on(struct upstream *u, struct us_cut *c, struct output *out) {
	struct us_stream *s = c->stream;
	uint32_t part;

	if (contradicts(c)) {
		contradiction(u, c);
		return;
	}
	part = RTE_MIN(s->missing, c->left);
	s->missing -= part;
	c->used = true;
	if (s->phase == US_PASS) {
		us_cut_pass(c, part);
		if (s->missing == 0)
			s->phase = US_BOUNDARY;
		return;
	}
	us_cut_copy(c, rte_pktmbuf_mtod_offset(s->frame, uint8_t *, s->frame->data_len), part);
	set_size(s->frame, s->frame->data_len + part);
	if (s->missing == 0)
		put_out(u, out, release(u, s));
}

/* Nothing but its header was in the frame, or `size` bytes of it are to be passed over. */
static void pass_frame(struct upstream *u, struct us_cut *c, uint32_t size) {
	c->stream->missing = size;
	c->stream->phase = size > 0 ? US_PASS : US_BOUNDARY;
	if (size == 0 && contradicts(c))
		contradiction(u, c);
}

static void take_pdu(struct upstream *u, struct us_cut *c, struct output *out, uint32_t size,
		     const struct docsis_mac *mac, struct rte_mbuf *m) {
	struct us_stream *s = c->stream;

	us_frame_describe(m, c, mac);
	if (size <= c->left && c->to_pointer == US_NO_POINTER) {
		us_cut_copy(c, rte_pktmbuf_mtod(m, uint8_t *), size);
		set_size(m, size);
		put_out(u, out, m);
		return;
	}
	s->frame = m;
	s->missing = size;
	s->phase = US_BODY;
	u->incomplete_frames++;
}

/* The cut stands behind a complete header, of which `here` bytes stand in this segment. `m` may be a
 * buffer for the frame, or NULL. */
static void header_done(struct upstream *u, struct us_cut *c, struct output *out,
			enum docsis_verdict verdict, const struct docsis_mac *mac,
			struct rte_mbuf *m, uint32_t here) {
	enum us_frame_action action = us_frame_judge(u, c, verdict, mac);

	if (action == US_FRAME_TAKE && m == NULL)
		m = buffer(u);
	if (action == US_FRAME_TAKE && m != NULL) {
		take_pdu(u, c, out, us_frame_pdu(mac), mac, m);
		return;
	}
	rte_pktmbuf_free(m);
	if (action == US_FRAME_TAKE)
		u->counters.drops[DROP_FRAME_NO_BUFFER]++;
	if (action == US_FRAME_LOSE) {
		count(&u->counters, COUNTER_RESYNC_BYTES, here);
		lose(u, c);
	} else if (action == US_FRAME_TAKE || action == US_FRAME_PASS) {
		pass_frame(u, c, us_frame_pdu(mac));
	}
}

static bool incomplete(enum docsis_verdict verdict, const struct docsis_mac *mac) {
	return verdict == DOCSIS_TRUNCATED && mac->header_size == 0;
}

/* The segment ends inside the header: the rest comes with the next one. */
static void header_begin(struct upstream *u, struct us_cut *c) {
	struct us_stream *s = c->stream;
	struct rte_mbuf *m = buffer(u);
	uint32_t size = c->left;

	if (m == NULL) {
		u->counters.drops[DROP_FRAME_NO_BUFFER]++;
		lose(u, c);
		return;
	}
	us_cut_copy(c, rte_pktmbuf_mtod(m, uint8_t *), size);
	set_size(m, size);
	s->frame = m;
	s->phase = US_HEADER;
	u->incomplete_frames++;
}

static void header_go_on(struct upstream *u, struct us_cut *c, struct output *out) {
	struct us_stream *s = c->stream;
	uint8_t *header = rte_pktmbuf_mtod(s->frame, uint8_t *);
	uint32_t have = s->frame->data_len;
	uint32_t needs = us_frame_header_needs(header, have);
	uint32_t part = RTE_MIN(needs - have, c->left);
	struct docsis_mac mac;
	enum docsis_verdict verdict;
	struct rte_mbuf *m;

	if (c->to_pointer != US_NO_POINTER && c->to_pointer < needs - have) {
		contradiction(u, c);
		return;
	}
	c->used = true;
	us_cut_copy(c, header + have, part);
	set_size(s->frame, have + part);
	verdict = docsis_mac_parse(header, have + part, &mac);
	if (incomplete(verdict, &mac))
		return;
	if ((verdict == DOCSIS_OK || verdict == DOCSIS_TRUNCATED) && us_frame_is_header(&mac) &&
	    c->to_pointer != US_NO_POINTER && c->to_pointer != 0) {
		us_frame_requests(u, c, &mac);
		contradiction(u, c);
		return;
	}
	m = detach(u, s);
	set_size(m, 0); /* the PDU takes the place of the header */
	/* The segment began with the header, and it may have come in several steps. */
	header_done(u, c, out, verdict, &mac, m, c->segment->pkt_len - c->left);
	if (s->frame == NULL) /* else its wait goes on, from where the header began */
		hold_end(u, s);
}

static void frame_begin(struct upstream *u, struct us_cut *c, struct output *out) {
	uint8_t room[HEADER_ROOM];
	uint32_t size = us_cut_piece(c);
	struct docsis_mac mac;
	enum docsis_verdict verdict = docsis_mac_parse(us_cut_bytes(c), size, &mac);

	count(&u->counters, COUNTER_FRAMES, 1);
	c->used = true;
	if (incomplete(verdict, &mac) && size < c->left) {
		size = us_cut_peek(c, room, sizeof(room));
		verdict = docsis_mac_parse(room, size, &mac);
	}
	if (incomplete(verdict, &mac)) {
		header_begin(u, c);
		return;
	}
	if (verdict != DOCSIS_BAD_HCS)
		us_cut_pass(c, mac.header_size);
	header_done(u, c, out, verdict, &mac, NULL, mac.header_size);
}

/* Bytes behind the last frame of a segment. */
static bool is_padding(struct us_cut *c) {
	static const uint8_t zeroes[DOCSIS_MAC_HEADER];
	uint8_t bytes[DOCSIS_MAC_HEADER];
	uint32_t size;

	us_cut_piece(c);
	if (*us_cut_bytes(c) != 0)
		return *us_cut_bytes(c) == 0xff;
	size = us_cut_peek(c, bytes, sizeof(bytes));
	return (size == sizeof(bytes) && memcmp(bytes, zeroes, sizeof(bytes)) == 0);
}

/* Between two frames. */
static void boundary(struct upstream *u, struct us_cut *c, struct output *out) {
	if (c->to_pointer != US_NO_POINTER) {
		pass_bytes(u, c, c->to_pointer);
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
		frame_begin(u, c, out);
	else if (c->used)
		lose(u, c);
	else
		c->stream->lost = true; /* no byte of the segment is of use */
}

static void end(struct upstream *u, struct us_cut *c, bool orphan) {
	struct us_stream *s = c->stream;

	if (!c->framed && s->phase != US_BOUNDARY) {
		us_frame_drop(u, s, DROP_FRAME_TRUNCATED);
		s->lost = false; /* the next burst begins with a frame */
	}
	if (s->frame != NULL && s->frame_hold.bytes == 0)
		hold_add(&u->holds, &s->frame_hold, hold_size(s->frame), u->r.clock->now);
	if (orphan)
		u->counters.drops[DROP_SEGMENT_ORPHAN]++;
	else if (!c->joined)
		count(&u->counters, COUNTER_EXTRACTED, 1);
	rte_pktmbuf_free(c->segment);
	c->segment = NULL;
	us_relieve_modem(u, s->modem);
}

/* Opens the next segment. Returns false where there is none. */
static bool open(struct upstream *u, struct us_cut *c) {
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
		contradiction(u, c); /* no byte is left to find that out from */
	return true;
}

static void step(struct upstream *u, struct us_cut *c, struct output *out) {
	switch (c->stream->phase) {
	case US_BOUNDARY: boundary(u, c, out); return;
	case US_HEADER: header_go_on(u, c, out); return;
	case US_BODY:
	case US_PASS: go_on(u, c, out); return;
	}
}

uint16_t us_extract(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	struct us_cut *c = &u->cut;
	struct output out = {.pkts = pkts};
	uint64_t most = u->counters.values[COUNTER_FRAMES] + HEADER_BUDGET;

	(void)n; /* reassemble leaves nothing: segments come by the queue */
	us_relieve(u);
	if (u->waiting_count + u->in_crypto + u->behind.count >= US_TRANSMIT_CAPACITY / 2)
		return 0; /* the network port is behind, or a few fragments were many frames */
	while (out.n < PIPELINE_BURST && u->counters.values[COUNTER_FRAMES] < most) {
		if (c->segment == NULL && !open(u, c))
			break;
		if (c->stream->lost) {
			end(u, c, !c->used);
			continue;
		}
		while (c->left > 0 && out.n < PIPELINE_BURST && !c->stream->lost &&
		       u->counters.values[COUNTER_FRAMES] < most)
			step(u, c, &out);
		if (c->left == 0 || c->stream->lost)
			end(u, c, c->stream->lost && !c->used);
	}
	return out.n;
}

void us_joined_begin(struct upstream *u, const struct us_stream *s, struct rte_mbuf *m,
		     uint16_t channel) {
	/* one of its own: the flow's may have an incomplete frame, or be in work */
	u->joined_stream =
		(struct us_stream){.flow = s->flow, .modem = s->modem, .cluster = s->cluster};
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
	struct output out = {.pkts = &frame, .joined = true};

	if (c->left > 0)
		step(u, c, &out);
	if (c->left == 0)
		end(u, c, false);
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
	rte_pktmbuf_free(u->joined_cut.segment); /* counted as fragments */
	u->joined_cut.segment = NULL;
	rte_pktmbuf_free_bulk(u->stock, u->stock_count);
	u->stock_count = 0;
}
