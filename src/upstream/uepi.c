/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UEPI: puts PSP packets into the order of their sequence numbers, if they have any, and joins
 * their segments to bursts of header, payload and trailer (docs/uepi-formats.md). Segments of
 * request sessions are bandwidth requests.
 */
#include "upstream/uepi.h"

#include "pipeline/change.h"
#include "wire/map.h"
#include "wire/psp.h"

/* A PSP segment and its packet. */
struct us_piece {
	struct rte_mbuf *packet;
	const struct psp_segment *segment;
	/* no payload follows in the packet, so the burst may use the packet's own mbuf */
	bool last_payload;
};

static const enum drop_reason reasons[] = {
	[PSP_TRUNCATED] = DROP_PSP_TRUNCATED,	      [PSP_CONTROL] = DROP_PSP_CONTROL,
	[PSP_EXTENDED] = DROP_PSP_EXTENDED,	      [PSP_TABLE_TRUNCATED] = DROP_PSP_TRUNCATED,
	[PSP_SEGMENT_TRUNCATED] = DROP_PSP_TRUNCATED, [PSP_TRAILING] = DROP_PSP_TRAILING,
};

/* Closes the open burst. Returns its payload, which the caller owns, or NULL if it has none. */
static struct rte_mbuf *burst_release(struct us_uepi *stage, struct us_burst *b) {
	pending_clear(stage->pending_set, &b->pending);
	stage->open_bursts--;
	b->open = false;
	b->bytes = 0;
	b->pieces = 0;
	return us_chain_detach(&b->payload);
}

/* Drops the open burst, and skips segments up to the next header. Harmless if none is open. */
static void burst_drop(struct us_uepi *stage, struct us_burst *b, enum drop_reason reason) {
	struct rte_mbuf *m;

	if (!b->open)
		return;
	m = burst_release(stage, b);
	drop_count(stage->counters, m, reason);
	rte_pktmbuf_free(m);
	b->skipping = true;
}

/* Counts a burst without a valid header, and its drop. A capture gets `packet`, which stays the
 * caller's. */
static void burst_refuse(struct us_uepi *stage, struct us_burst *b, struct rte_mbuf *packet,
			 enum drop_reason reason) {
	count(stage->counters, COUNTER_BURSTS, 1);
	drop_count(stage->counters, packet, reason);
	b->skipping = true;
}

static void burst_begin(struct us_uepi *stage, const struct us_session *s, struct us_burst *b,
			const struct us_piece *piece) {
	const struct psp_segment *segment = piece->segment;
	struct uepi_header h;

	burst_drop(stage, b, DROP_BURST_BROKEN);
	if (segment->end ||
	    uepi_header_parse(s->format, segment->data, segment->length, &h) != UEPI_OK) {
		burst_refuse(stage, b, piece->packet, DROP_BURST_HEADER);
		return;
	}
	count(stage->counters, COUNTER_BURSTS, 1);
	stage->open_bursts++;
	b->open = true;
	b->skipping = false;
	b->sid = h.sid;
	b->request = h.iuc == MAP_REQUEST;
	b->burst_id = h.burst_id;
}

static bool burst_trailer_good(struct us_uepi *stage, const struct us_session *s,
			       const struct us_burst *b, const struct psp_segment *segment) {
	struct uepi_trailer t;
	enum uepi_verdict verdict =
		uepi_trailer_parse(s->format, segment->data, segment->length, &t);
	bool read = verdict == UEPI_OK;

	if (s->format == UEPI_OFDMA && (!read || t.burst_id != b->burst_id))
		return false;
	if (s->format == UEPI_SC_QAM) {
		count(stage->counters, COUNTER_ODD_TRAILERS, !read);
		read = verdict != UEPI_TRUNCATED;
	}
	if (read && (t.flags & UEPI_FEC_VALID) != 0)
		count(stage->counters, COUNTER_FEC_UNCORRECTABLE, t.fec_uncorrectable);
	return true;
}

/* Gives a burst the arrival time of its trailer, as no part of the burst can go on before. */
static void burst_set_arrival(const struct us_uepi *stage, struct rte_mbuf *payload,
			      struct rte_mbuf *trailer) {
	for (; payload != NULL && latency_on(stage->latency); payload = payload->next)
		us_meta(payload)->arrived = us_meta(trailer)->arrived;
}

static void burst_end(struct us_uepi *stage, const struct us_session *s, struct us_burst *b,
		      const struct us_piece *piece) {
	struct rte_mbuf *m;

	if (!burst_trailer_good(stage, s, b, piece->segment)) {
		burst_drop(stage, b, DROP_BURST_TRAILER);
		b->skipping = false; /* the burst ends with its trailer */
		return;
	}
	m = burst_release(stage, b);
	if (m == NULL) {
		count(stage->counters, COUNTER_NO_BURSTS, 1);
		return;
	}
	burst_set_arrival(stage, m, piece->packet);
	us_meta(m)->burst.channel = s->channel;
	us_meta(m)->burst.sid = b->sid;
	us_meta(m)->burst.ranging = s->kind == US_RANGING;
	us_meta(m)->burst.request = b->request;
	pipeline_enqueue(stage->list, US_BURSTS, m);
}

/* Returns an mbuf of the piece: the packet's own for its last payload, else one attached to the
 * packet. NULL: no mbuf is free. */
static struct rte_mbuf *piece_buffer(struct us_uepi *stage, const struct us_piece *piece) {
	struct rte_mbuf *packet = piece->packet, *m = packet;

	if (piece->last_payload) {
		/* packet_deliver() still reads later segments and frees its own reference */
		rte_mbuf_refcnt_update(m, 1);
	} else {
		m = rte_pktmbuf_alloc(stage->r->pieces);
		if (m == NULL)
			return NULL;
		rte_pktmbuf_attach(m, packet);
	}
	m->data_off = (uint16_t)(piece->segment->data - (const uint8_t *)packet->buf_addr);
	m->data_len = piece->segment->length;
	m->pkt_len = m->data_len;
	return m;
}

static void burst_payload(struct us_uepi *stage, struct us_burst *b, const struct us_piece *piece) {
	struct rte_mbuf *m;

	if (piece->segment->length == 0)
		return;
	if (b->bytes + piece->segment->length > US_BURST_BYTES || b->pieces == US_BURST_PIECES) {
		burst_drop(stage, b, DROP_BURST_TOO_LONG);
		return;
	}
	m = piece_buffer(stage, piece);
	if (m == NULL) {
		burst_drop(stage, b, DROP_BURST_NO_BUFFER);
		return;
	}
	us_chain_append(&b->payload, m);
	b->bytes += m->data_len;
	b->pieces++;
}

/* Processes the next segment of a PSP flow of a data or ranging session. The caller keeps its
 * reference to the packet. */
static void segment_process(struct us_uepi *stage, const struct us_session *s, struct us_burst *b,
			    const struct us_piece *piece) {
	if (piece->segment->begin) {
		burst_begin(stage, s, b, piece);
	} else if (!b->open) {
		if (!b->skipping)
			burst_refuse(stage, b, piece->packet, DROP_BURST_HEADLESS);
	} else if (piece->segment->end) {
		burst_end(stage, s, b, piece);
	} else {
		burst_payload(stage, b, piece);
	}
}

/* At the end of a packet, adds the new buffers of a burst that stays open to the pending ones. */
static void burst_keep(struct us_uepi *stage, struct us_burst *b) {
	struct pending_size size;

	if (!b->open)
		return;
	size = pending_size(b->payload.first);
	if (size.bytes == 0)
		size.bytes = 1; /* a header alone needs a timer, too */
	size.buffers -= b->pending.size.buffers;
	size.bytes -= b->pending.size.bytes;
	if (size.bytes > 0)
		pending_add(stage->pending_set, &b->pending, size, stage->r->clock->now);
}

/* The index of the last segment with payload; 256 if there is none. */
static unsigned last_payload(const struct psp *psp) {
	for (unsigned i = psp->count; i > 0; i--) {
		uint16_t entry = load_be16(psp->table + (size_t)(i - 1) * PSP_ENTRY_SIZE);

		if ((entry & (PSP_BEGIN | PSP_END)) == 0 && (entry & PSP_LENGTH) != 0)
			return i - 1;
	}
	return PSP_COUNT_MAX + 1;
}

static void packet_bursts(struct us_uepi *stage, struct us_session *s, struct rte_mbuf *m,
			  const struct psp *psp) {
	struct us_burst *b = &s->flows[psp->flow].burst;
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	unsigned last = last_payload(psp);

	while (psp_next(psp, &cursor, &segment)) {
		struct us_piece piece = {m, &segment, cursor.index == last + 1};

		segment_process(stage, s, b, &piece);
	}
	count(stage->counters, COUNTER_PSP_PARTIAL, b->open);
	burst_keep(stage, b);
}

static void packet_requests(struct us_uepi *stage, const struct us_session *s,
			    const struct psp *psp) {
	struct psp_cursor cursor = {0};
	struct psp_segment segment;

	while (psp_next(psp, &cursor, &segment)) {
		struct uepi_request r;

		if (!segment.begin || !segment.end ||
		    uepi_request_parse(s->format, segment.data, segment.length, &r) != UEPI_OK)
			count(stage->counters, COUNTER_BAD_REQUESTS, 1);
		else
			us_request_record(stage->requests, s->channel, &r);
	}
}

static struct us_session *packet_session(struct us_uepi *stage, struct rte_mbuf *m) {
	return &stage->tables->sessions[us_meta(m)->packet.session];
}

/* Processes the segments of a packet that is next in order or has no sequence number. */
static void packet_deliver(void *context, void *owner, struct rte_mbuf *m) {
	struct us_uepi *stage = context;
	struct us_session *s = packet_session(stage, m);
	struct psp psp;

	(void)owner;
	psp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, 0, &psp);
	count(stage->counters, COUNTER_PSP_PACKETS, 1);
	count(stage->counters, COUNTER_PSP_OFDMA, s->format == UEPI_OFDMA);
	count(stage->counters, COUNTER_PSP_SEGMENTS, psp.count);
	if (s->kind == US_REQUESTS)
		packet_requests(stage, s, &psp);
	else
		packet_bursts(stage, s, m, &psp);
	rte_pktmbuf_free_seg(m); /* not the chain: it belongs to a burst, with its own reference */
}

/* Drops open bursts that lack a packet. `owner` is the PSP flow that has the numbers, or the first
 * PSP flow of a session that numbers all of its packets. */
static void packet_gap(void *context, void *owner, unsigned missing) {
	struct us_uepi *stage = context;
	struct us_psp_flow *f = owner;

	count(stage->counters, COUNTER_PSP_GAPS, missing > 0);
	count(stage->counters, COUNTER_PSP_MISSING, missing);
	for (unsigned i = 0; i < (stage->numbered_by_session ? US_PSP_FLOWS : 1); i++)
		burst_drop(stage, &f[i].burst, DROP_BURST_GAP);
}

static const struct us_reorder_kind packets = {
	.deliver = packet_deliver,
	.gap = packet_gap,
	.reordered = COUNTER_PSP_REORDERED,
	.resyncs = COUNTER_PSP_RESYNCS,
	.duplicate = DROP_PSP_DUPLICATE,
	.late = DROP_PSP_LATE,
};

static struct us_reorder packet_reorder(struct us_uepi *stage, struct us_psp_flow *f) {
	return (struct us_reorder){&packets,	stage, &f->order,
				   &f->pending, f,     &stage->pending_packets};
}

void us_packets_expire(struct us_uepi *stage, struct pending *h) {
	struct us_reorder reorder =
		packet_reorder(stage, PENDING_OF(struct us_psp_flow, pending, h));

	us_reorder_skip(stage->reorder_set, &reorder);
}

void us_burst_expire(struct us_uepi *stage, struct pending *h, bool timeout) {
	burst_drop(stage, PENDING_OF(struct us_burst, pending, h),
		   timeout ? DROP_BURST_TIMEOUT : DROP_BURST_LIMIT);
}

bool us_psp_flow_remove(struct us_uepi *stage, struct us_psp_flow *f, int *budget) {
	struct us_reorder reorder = packet_reorder(stage, f);

	if (!us_reorder_drop(stage->reorder_set, &reorder, DROP_PACKET_SESSION_REMOVED, budget))
		return false;
	*budget -= CHANGE_BUFFER_NS * (int)f->burst.pieces;
	burst_drop(stage, &f->burst, DROP_BURST_SESSION_REMOVED);
	return true;
}

uint64_t us_uepi_pending(const void *ctx, enum unit unit) {
	const struct us_uepi *stage = ctx;

	switch (unit) {
	case UNIT_PACKET: return stage->pending_packets;
	case UNIT_BURST: return stage->open_bursts;
	default: return 0;
	}
}

void us_uepi_stop(void *ctx) {
	struct us_uepi *stage = ctx;
	struct rte_mbuf *m;

	for (uint32_t s = 0; s < stage->tables->session_count; s++) {
		for (unsigned f = 0; f < US_PSP_FLOWS; f++) {
			struct us_reorder reorder =
				packet_reorder(stage, &stage->tables->sessions[s].flows[f]);

			us_reorder_stop(stage->reorder_set, &reorder, DROP_PACKET_STOPPED);
			burst_drop(stage, &stage->tables->sessions[s].flows[f].burst,
				   DROP_BURST_STOPPED);
		}
	}
	while ((m = queue_remove(&stage->list->queues[US_BURSTS])) != NULL)
		drop(stage->counters, m, DROP_BURST_STOPPED);
}

static void packet_process(struct us_uepi *stage, struct rte_mbuf *m) {
	struct us_session *s = packet_session(stage, m);
	enum psp_verdict verdict;
	struct us_reorder reorder;
	struct psp psp;

	verdict = psp_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, 0, &psp);
	if (verdict != PSP_OK) {
		drop(stage->counters, m, reasons[verdict]);
		return;
	}
	if (!psp.sequence_valid) {
		packet_deliver(stage, NULL, m);
		return;
	}
	reorder = packet_reorder(stage, &s->flows[stage->numbered_by_session ? 0 : psp.flow]);
	us_reorder_put(stage->reorder_set, &reorder, psp.sequence, m);
}

uint16_t us_uepi(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_uepi *stage = ctx;

	for (uint16_t i = 0; i < n; i++)
		packet_process(stage, pkts[i]);
	return 0;
}
