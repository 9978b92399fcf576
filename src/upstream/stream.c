/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of a stream, from their headers to their last bytes. The HCS is verified here, as nothing
 * in a header is believed before.
 */
#include "upstream/stream.h"

#include "upstream/decrypt.h"
#include "upstream/frames.h"
#include "upstream/management.h"
#include "upstream/upstream.h"

/* Whatever ELEN says; more than MULPI allows. */
#define HEADER_ROOM (DOCSIS_MAC_HEADER + UINT8_MAX)

static struct rte_mbuf *buffer(struct upstream *u) {
	if (u->stock_count == 0 && rte_pktmbuf_alloc_bulk(u->r.frames, u->stock, US_STOCK) == 0)
		u->stock_count = US_STOCK;
	return u->stock_count > 0 ? u->stock[--u->stock_count] : rte_pktmbuf_alloc(u->r.frames);
}

static void set_size(struct rte_mbuf *m, uint32_t size) {
	m->data_len = (uint16_t)size;
	m->pkt_len = size;
}

/* The cut stands behind the frame's last byte, in the buffer that had it. */
static void put_out(struct upstream *u, const struct us_cut *c, struct us_output *out,
		    struct rte_mbuf *m) {
	us_meta(m)->arrived = us_meta(c->m)->arrived;
	if (us_meta(m)->frame.management)
		us_management(u, m);
	else if (!out->joined || us_take_joined(u, m))
		out->pkts[out->n++] = m;
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
	hold_end(&u->holds, &s->frame_hold);
	return detach(u, s);
}

void us_frame_drop(struct upstream *u, struct us_stream *s, enum drop_reason reason) {
	struct rte_mbuf *m = release(u, s);

	if (m != NULL)
		drop(&u->counters, m, reason);
	s->lost = true;
}

void us_stream_pass_bytes(struct upstream *u, struct us_cut *c, uint32_t size) {
	count(&u->counters, COUNTER_RESYNC_BYTES, size);
	us_cut_pass(c, size);
}

/* Goes on at the pointer, if that is still ahead, or with the next segment. */
void us_stream_lose(struct upstream *u, struct us_cut *c) {
	bool ahead = c->to_pointer != US_NO_POINTER;

	c->stream->lost = c->framed && !ahead;
	us_stream_pass_bytes(u, c, ahead ? c->to_pointer : c->left);
}

/* All bytes before the pointer are passed over, those too that the frame's header took. */
void us_stream_contradiction(struct upstream *u, struct us_cut *c) {
	count(&u->counters, COUNTER_RESYNC_BYTES, c->segment->pkt_len - c->left);
	us_frame_drop(u, c->stream, DROP_FRAME_POINTER);
	us_stream_lose(u, c);
}

/* What is missing of the frame in progress must end where the pointer says. */
static bool contradicts(const struct us_cut *c) {
	return c->to_pointer != US_NO_POINTER && c->to_pointer != c->stream->missing;
}

/* The next bytes of a PDU, or of a frame that is passed over. */
void us_stream_go_on(struct upstream *u, struct us_cut *c, struct us_output *out) {
	struct us_stream *s = c->stream;
	uint32_t part;

	if (contradicts(c)) {
		us_stream_contradiction(u, c);
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
		put_out(u, c, out, release(u, s));
}

/* Nothing but its header was in the frame, or `size` bytes of it are to be passed over. */
static void pass_frame(struct upstream *u, struct us_cut *c, uint32_t size) {
	c->stream->missing = size;
	c->stream->phase = size > 0 ? US_PASS : US_BOUNDARY;
	if (size == 0 && contradicts(c))
		us_stream_contradiction(u, c);
}

static void take_pdu(struct upstream *u, struct us_cut *c, struct us_output *out, uint32_t size,
		     const struct docsis_mac *mac, struct rte_mbuf *m) {
	struct us_stream *s = c->stream;

	us_frame_describe(m, c, mac);
	if (size <= c->left && c->to_pointer == US_NO_POINTER) {
		us_cut_copy(c, rte_pktmbuf_mtod(m, uint8_t *), size);
		set_size(m, size);
		put_out(u, c, out, m);
		return;
	}
	s->frame = m;
	s->missing = size;
	s->phase = US_BODY;
	u->incomplete_frames++;
}

/* The cut stands behind a complete header, of which `here` bytes stand in this segment. `m` may be a
 * buffer for the frame, or NULL. */
static void header_done(struct upstream *u, struct us_cut *c, struct us_output *out,
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
		us_stream_lose(u, c);
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
		us_stream_lose(u, c);
		return;
	}
	us_cut_copy(c, rte_pktmbuf_mtod(m, uint8_t *), size);
	set_size(m, size);
	s->frame = m;
	s->phase = US_HEADER;
	u->incomplete_frames++;
}

void us_stream_header_go_on(struct upstream *u, struct us_cut *c, struct us_output *out) {
	struct us_stream *s = c->stream;
	uint8_t *header = rte_pktmbuf_mtod(s->frame, uint8_t *);
	uint32_t have = s->frame->data_len;
	uint32_t needs = us_frame_header_needs(header, have);
	uint32_t part = RTE_MIN(needs - have, c->left);
	struct docsis_mac mac;
	enum docsis_verdict verdict;
	struct rte_mbuf *m;

	if (c->to_pointer != US_NO_POINTER && c->to_pointer < needs - have) {
		us_stream_contradiction(u, c);
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
		us_stream_contradiction(u, c);
		return;
	}
	m = detach(u, s);
	set_size(m, 0); /* the PDU takes the place of the header */
	/* The segment began with the header, and it may have come in several steps. */
	header_done(u, c, out, verdict, &mac, m, c->segment->pkt_len - c->left);
	if (s->frame == NULL) /* else its wait goes on, from where the header began */
		hold_end(&u->holds, &s->frame_hold);
}

void us_stream_frame_begin(struct upstream *u, struct us_cut *c, struct us_output *out) {
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
