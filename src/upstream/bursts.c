/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/bursts.h"

#include "upstream/upstream.h"

#define BURST_BYTES 65535

/* Ends the open burst and takes its payload out; NULL where it has none. */
static struct rte_mbuf *release(struct upstream *u, struct us_burst *b) {
	hold_end(&u->holds, &b->hold);
	u->open_bursts--;
	b->open = false;
	b->bytes = 0;
	b->pieces = 0;
	return us_chain_take(&b->payload);
}

void us_burst_drop(struct upstream *u, struct us_burst *b, enum drop_reason reason) {
	if (!b->open)
		return;
	rte_pktmbuf_free(release(u, b));
	u->counters.drops[reason]++;
	b->passing = true;
}

/* A burst that has no more than what is seen of it here. */
static void refuse(struct upstream *u, struct us_burst *b, enum drop_reason reason) {
	count(&u->counters, COUNTER_BURSTS, 1);
	u->counters.drops[reason]++;
	b->passing = true;
}

static void begin(struct upstream *u, const struct us_session *s, struct us_burst *b,
		  const struct psp_segment *segment) {
	struct uepi_header h;

	us_burst_drop(u, b, DROP_BURST_BROKEN);
	if (segment->end ||
	    uepi_header_parse(s->format, segment->data, segment->length, &h) != UEPI_OK) {
		refuse(u, b, DROP_BURST_HEADER);
		return;
	}
	count(&u->counters, COUNTER_BURSTS, 1);
	u->open_bursts++;
	b->open = true;
	b->passing = false;
	b->sid = h.sid;
	b->burst_id = h.burst_id;
}

static bool trailer_good(struct upstream *u, const struct us_session *s, const struct us_burst *b,
			 const struct psp_segment *segment) {
	struct uepi_trailer t;
	enum uepi_verdict verdict =
		uepi_trailer_parse(s->format, segment->data, segment->length, &t);
	bool read = verdict == UEPI_OK;

	if (s->format == UEPI_OFDMA && (!read || t.burst_id != b->burst_id))
		return false;
	if (s->format == UEPI_SC_QAM) {
		count(&u->counters, COUNTER_ODD_TRAILERS, !read);
		read = verdict != UEPI_TRUNCATED;
	}
	if (read && (t.flags & UEPI_FEC_VALID) != 0)
		count(&u->counters, COUNTER_FEC_UNCORRECTABLE, t.fec_uncorrectable);
	return true;
}

/* All of a burst came with its trailer: nothing can go on before that. */
static void set_arrival(const struct upstream *u, struct rte_mbuf *payload,
			struct rte_mbuf *trailer) {
	for (; payload != NULL && latency_on(&u->latency); payload = payload->next)
		us_meta(payload)->arrived = us_meta(trailer)->arrived;
}

static void end(struct upstream *u, const struct us_session *s, struct us_burst *b,
		const struct us_piece *piece) {
	struct rte_mbuf *m;

	if (!trailer_good(u, s, b, piece->segment)) {
		us_burst_drop(u, b, DROP_BURST_TRAILER);
		b->passing = false; /* that was all of it */
		return;
	}
	m = release(u, b);
	if (m == NULL) {
		count(&u->counters, COUNTER_NO_BURSTS, 1);
		return;
	}
	set_arrival(u, m, piece->packet);
	us_meta(m)->burst.channel = s->channel;
	us_meta(m)->burst.sid = b->sid;
	us_meta(m)->burst.ranging = s->kind == US_RANGING;
	us_queue_add(&u->bursts, m);
}

/* The mbuf of a piece: the packet itself for the last one, else one attached to it. */
static struct rte_mbuf *piece_buffer(struct upstream *u, const struct us_piece *piece) {
	struct rte_mbuf *packet = piece->packet, *m = packet;

	if (piece->last_payload) {
		rte_mbuf_refcnt_update(m, 1); /* the rest of the packet is still to be read */
	} else {
		m = rte_pktmbuf_alloc(u->r.pieces);
		if (m == NULL)
			return NULL;
		rte_pktmbuf_attach(m, packet);
	}
	m->data_off = (uint16_t)(piece->segment->data - (const uint8_t *)packet->buf_addr);
	m->data_len = piece->segment->length;
	m->pkt_len = m->data_len;
	return m;
}

static void payload(struct upstream *u, struct us_burst *b, const struct us_piece *piece) {
	struct rte_mbuf *m;

	if (piece->segment->length == 0)
		return;
	if (b->bytes + piece->segment->length > BURST_BYTES || b->pieces == US_BURST_PIECES) {
		us_burst_drop(u, b, DROP_BURST_TOO_LONG);
		return;
	}
	m = piece_buffer(u, piece);
	if (m == NULL) {
		us_burst_drop(u, b, DROP_BURST_NO_BUFFER);
		return;
	}
	us_chain_append(&b->payload, m);
	b->bytes += m->data_len;
	b->pieces++;
}

void us_burst_take(struct upstream *u, const struct us_session *s, struct us_burst *b,
		   const struct us_piece *piece) {
	if (piece->segment->begin) {
		begin(u, s, b, piece->segment);
	} else if (!b->open) {
		if (!b->passing)
			refuse(u, b, DROP_BURST_HEADLESS);
	} else if (piece->segment->end) {
		end(u, s, b, piece);
	} else {
		payload(u, b, piece);
	}
}

void us_burst_hold(struct upstream *u, struct us_burst *b) {
	struct hold_size size;

	if (!b->open)
		return;
	size = hold_size(b->payload.first);
	if (size.bytes == 0)
		size.bytes = 1; /* the wait of a header ends, too */
	size.buffers -= b->hold.size.buffers;
	size.bytes -= b->hold.size.bytes;
	if (size.bytes > 0)
		hold_add(&u->holds, &b->hold, size, u->r.clock->now);
}
