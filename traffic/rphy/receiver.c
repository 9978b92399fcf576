/* SPDX-License-Identifier: BSD-3-Clause */
/* Extracts whole DOCSIS frames from Ethernet, L2TPv3 and PSP. */
#include "rphy/receiver.h"

#include <stdlib.h>

#include "core/link_frame.h"
#include "qos/meters.h"
#include "rphy/chain.h"
#include "rphy/outer_header.h"
#include "wire/ip.h"
#include "wire/l2tpv3.h"

#define SESSION_SLOTS 1024 /* at most a quarter is used without changes (SG_MAX_CHANNELS) */
#define SESSIONS_MAX (SESSION_SLOTS / 4 * 3)
#define SCRATCH_SIZE 65536
/* Exceeds Ethernet with a VLAN tag, IPv4 with options or IPv6, UDP, L2TPv3 and the fixed PSP header. */
#define HEADERS 128

#define PSP_STREAMS (PSP_FLOW_MAX + 1)

/* A PSP flow of a session. Its packets are numbered in sequence, and DOCSIS frames do not span flows. */
struct psp_stream {
	bool started;
	bool counter_known;
	uint8_t counter_ahead; /* difference to the PSP sequence number, modulo 16 */
	struct window sequence;
	struct rte_mbuf *open; /* incomplete DOCSIS frame, or NULL */
};

struct session {
	uint32_t id; /* 0: free */
	uint32_t channel;
	struct channel config;
	struct psp_stream streams[PSP_STREAMS];
};

struct receiver {
	const struct rphy_config *config;
	uint8_t message_flow; /* PSP flow of messages; 0: no messages */
	struct rte_mempool *frames;
	struct account *account;
	struct meters *meters; /* or NULL */
	receiver_wants_fn wants;
	void *wants_ctx;
	bool keep_unknown;
	uint32_t session_count;
	struct session sessions[SESSION_SLOTS];
	uint8_t scratch[SCRATCH_SIZE]; /* copy of a chained frame's headers, contiguous */
};

static struct session *session_slot(struct receiver *r, uint32_t id) {
	uint32_t slot = (id * 0x9e3779b1u) >> 22;

	while (r->sessions[slot].id != id && r->sessions[slot].id != 0)
		slot = (slot + 1) % SESSION_SLOTS;
	return &r->sessions[slot];
}

struct receiver *receiver_create(const struct service_group *sg, struct rte_mempool *frames,
				 struct account *account, struct meters *meters) {
	struct receiver *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	*r = (struct receiver){
		.config = &sg->rphy,
		.message_flow = sg->upstream.scheduled ? sg->upstream.scheduler.psp_flow : 0,
		.frames = frames,
		.account = account,
		.meters = meters,
	};
	receiver_set_channels(r, sg->channels, (uint32_t)sg->channel_count);
	return r;
}

void receiver_set_channels(struct receiver *r, const struct channel *channels, uint32_t count) {
	for (uint32_t c = 0; c < count; c++) {
		struct session *s = session_slot(r, channels[c].session);

		if (channels[c].session == 0 || (s->id == 0 && r->session_count == SESSIONS_MAX))
			continue;
		r->session_count += s->id == 0;
		s->id = channels[c].session;
		s->channel = c;
		s->config = channels[c];
	}
}

bool receiver_has_session(struct receiver *r, uint32_t id) {
	return id != 0 && session_slot(r, id)->id == id;
}

void receiver_keep_unknown(struct receiver *r, bool keep) {
	r->keep_unknown = keep;
}

static void session_close(struct session *s) {
	for (unsigned i = 0; i < PSP_STREAMS; i++)
		rte_pktmbuf_free(s->streams[i].open);
	memset(s->streams, 0, sizeof(s->streams));
}

void receiver_restart(struct receiver *r, receiver_wants_fn wants, void *ctx) {
	r->wants = wants;
	r->wants_ctx = ctx;
	for (unsigned i = 0; i < SESSION_SLOTS; i++)
		session_close(&r->sessions[i]);
}

void receiver_free(struct receiver *r) {
	if (r == NULL)
		return;
	for (unsigned i = 0; i < SESSION_SLOTS; i++)
		session_close(&r->sessions[i]);
	free(r);
}

static void violate(struct receiver *r, enum violation v, uint64_t count) {
	r->account->violations[v] += count;
}

/* A DEPI frame with contiguous headers. */
struct depi {
	struct rte_mbuf *m;
	const uint8_t *frame; /* of a chained frame, only the headers */
	uint32_t size;
	struct l2tp_data l2tp;
	struct psp psp;
};

/* Counts an unexpected frame and keeps it as evidence, unless it is no fault. */
static bool depi_unexpected(struct receiver *r, enum unexpected why, const struct rte_mbuf *m) {
	r->account->unexpected[why]++;
	if (why != UNEXPECTED_LINK)
		evidence_add_mbuf(r->account->evidence, EVIDENCE_RPHY, unexpected_names[why], m);
	return false;
}

static bool l2tp_good(struct receiver *r, struct depi *d) {
	switch (l2tp_parse(d->frame, d->size, &d->l2tp)) {
	case L2TP_OK: return true;
	case L2TP_CONTROL: return depi_unexpected(r, UNEXPECTED_L2TP_CONTROL, d->m);
	case L2TP_IP_HEADER:
	case L2TP_IP_LENGTH:
	case L2TP_IP_CHECKSUM:
	case L2TP_FRAGMENT:
	case L2TP_VERSION:
	case L2TP_TRUNCATED: violate(r, VIOLATION_IP, 1); return false;
	case L2TP_RUNT:
	case L2TP_NOT_IP:
	case L2TP_NOT_L2TP: break;
	}
	return depi_unexpected(
		r, link_frame_is(d->frame, d->size) ? UNEXPECTED_LINK : UNEXPECTED_NOT_DEPI, d->m);
}

static void open_drop(struct receiver *r, struct psp_stream *l) {
	if (l->open == NULL)
		return;
	violate(r, VIOLATION_SEGMENT_UNFINISHED, 1);
	rte_pktmbuf_free(l->open);
	l->open = NULL;
}

enum order {
	FLOW_NEXT, /* next in sequence: continues an open frame */
	FLOW_AFTER_GAP, /* after a gap: an open frame stays incomplete */
	FLOW_LATE, /* late or duplicate: does not continue the open frame */
};

static enum order sequence_check(struct receiver *r, struct psp_stream *l, const struct psp *psp) {
	uint32_t gap = 0;
	uint32_t number;

	if (!psp->sequence_valid) {
		violate(r, VIOLATION_NO_SEQUENCE, 1);
		return FLOW_NEXT;
	}
	if (!l->started) {
		/* Far from 0, so that a late number is not taken for one far ahead. */
		l->sequence.next = 0x10000u + psp->sequence;
		l->started = true;
	}
	number = window_extend(&l->sequence, psp->sequence);
	switch (window_arrive(&l->sequence, number, &gap)) {
	case ARRIVAL_IN_ORDER: return FLOW_NEXT;
	case ARRIVAL_GAP: violate(r, VIOLATION_SEQUENCE_GAP, gap); return FLOW_AFTER_GAP;
	case ARRIVAL_LATE:
		violate(r, VIOLATION_SEQUENCE_LATE, 1);
		if (r->account->violations[VIOLATION_SEQUENCE_GAP] > 0)
			r->account->violations[VIOLATION_SEQUENCE_GAP]--;
		break;
	case ARRIVAL_DUPLICATE:
	case ARRIVAL_TOO_OLD: violate(r, VIOLATION_SEQUENCE_DUPLICATE, 1); break;
	}
	return FLOW_LATE;
}

/* R-DEPI does not define these bytes; the channel's configuration does. */
static void extra_check(struct receiver *r, const struct session *s, struct psp_stream *l,
			const struct psp *psp) {
	uint8_t counter;
	uint8_t ahead;

	if (s->config.psp_extra == PSP_EXTRA_NONE)
		return;
	counter = psp->extra[1] >> 4;
	ahead = (uint8_t)((counter - psp->sequence) & 0xf);
	if (s->config.psp_extra == PSP_EXTRA_STATIC) {
		ahead = counter;
	} else if (!l->counter_known) {
		l->counter_ahead = ahead;
		l->counter_known = true;
	}
	if (psp->extra[0] != 0 || (psp->extra[1] & 0xf) != s->config.profile ||
	    ahead != l->counter_ahead)
		violate(r, VIOLATION_EXTRA, 1);
}

static bool depi_frame_begin(struct receiver *r, const struct session *s, struct psp_stream *l) {
	l->open = rte_pktmbuf_alloc(r->frames);
	if (l->open == NULL) {
		r->account->unexpected[UNEXPECTED_NO_BUFFER]++;
		return false;
	}
	frame_info(l->open)->channel = s->channel;
	frame_info(l->open)->size = 0;
	frame_info(l->open)->head_only = false;
	return true;
}

/* A PSP segment: a DOCSIS frame or a part of one. */
struct piece {
	struct chain *chain;
	uint32_t at; /* offset in the DEPI frame */
	uint32_t size;
	bool begin;
	bool end;
};

static void depi_append(struct psp_stream *l, struct piece *piece, uint32_t size) {
	uint8_t *to = rte_pktmbuf_mtod_offset(l->open, uint8_t *, l->open->data_len);

	chain_read(piece->chain, piece->at, size, to);
	l->open->data_len = (uint16_t)(l->open->data_len + size);
	l->open->pkt_len += size;
	piece->at += size;
	piece->size -= size;
}

static void piece_append(struct receiver *r, struct psp_stream *l, struct piece *piece) {
	struct frame_info *info = frame_info(l->open);

	info->size += piece->size;
	if (info->head_only)
		return;
	if (piece->size > rte_pktmbuf_tailroom(l->open)) {
		open_drop(r, l);
		return;
	}
	if (r->wants != NULL && piece->begin && piece->size >= RECEIVER_HEAD) {
		depi_append(l, piece, RECEIVER_HEAD);
		info->head_only = !r->wants(r->wants_ctx, l->open);
	}
	if (!info->head_only)
		depi_append(l, piece, piece->size);
}

/* Adds a segment to the open frame, or begins one. Returns the frame if it is complete, else NULL. */
static struct rte_mbuf *piece_process(struct receiver *r, const struct session *s,
				      struct psp_stream *l, struct piece *piece) {
	struct rte_mbuf *whole;

	if (piece->begin) {
		open_drop(r, l);
		if (!depi_frame_begin(r, s, l))
			return NULL;
	}
	if (l->open == NULL) {
		/* Counts an orphaned frame once, by its last segment. */
		violate(r, VIOLATION_SEGMENT_ORPHAN, piece->end);
		return NULL;
	}
	piece_append(r, l, piece);
	if (!piece->end)
		return NULL;
	whole = l->open;
	l->open = NULL;
	return whole;
}

static unsigned segments_process(struct receiver *r, const struct session *s, struct psp_stream *l,
				 const struct depi *d, struct rte_mbuf **frames) {
	struct chain chain = {.m = d->m};
	struct psp_cursor cursor = {0};
	struct psp_segment segment;
	unsigned n = 0;

	while (psp_next(&d->psp, &cursor, &segment)) {
		struct piece piece = {
			.chain = &chain,
			.at = (uint32_t)(segment.data - d->frame),
			.size = segment.length,
			.begin = segment.begin,
			.end = segment.end,
		};
		struct rte_mbuf *whole = piece_process(r, s, l, &piece);

		r->account->formats[FORMAT_PSP_SEGMENTS]++;
		r->account->formats[FORMAT_PSP_FRAGMENTS] += !(segment.begin && segment.end);
		if (whole != NULL)
			frames[n++] = whole;
	}
	return n;
}

/* A late packet does not continue the open frame, so its segments are processed beside it. */
static unsigned psp_process(struct receiver *r, const struct session *s, struct psp_stream *l,
			    const struct depi *d, struct rte_mbuf **frames) {
	enum order order = sequence_check(r, l, &d->psp);
	struct rte_mbuf *open = l->open;
	unsigned n;

	if (order == FLOW_AFTER_GAP)
		open_drop(r, l);
	if (order != FLOW_LATE)
		return segments_process(r, s, l, d, frames);
	l->open = NULL;
	n = segments_process(r, s, l, d, frames);
	rte_pktmbuf_free(l->open);
	l->open = open;
	return n;
}

/* Makes the first `n` bytes contiguous. */
static void headers_gather(struct receiver *r, struct depi *d, uint32_t n) {
	if (n <= d->m->data_len)
		return;
	chain_read(&(struct chain){.m = d->m}, 0, RTE_MIN(n, d->size), r->scratch);
	d->frame = r->scratch;
}

static bool psp_good(struct receiver *r, struct depi *d, unsigned extra) {
	struct l2tp_data *l = &d->l2tp;
	uint32_t at = (uint32_t)(l->payload - d->frame);

	if (l->payload_size >= PSP_HEADER_FIXED) {
		headers_gather(r, d, at + (uint32_t)psp_header_size(l->payload[1], extra));
		l->payload = d->frame + at;
	}
	return psp_parse(l->payload, l->payload_size, extra, &d->psp) == PSP_OK;
}

/* Counted when the frame is processed for the last time. */
static unsigned session_unknown(struct receiver *r, uint32_t size) {
	if (!r->keep_unknown) {
		violate(r, VIOLATION_SESSION, 1);
		return 0;
	}
	r->account->depi_frames--;
	r->account->depi_bytes -= size;
	return RECEIVER_UNKNOWN;
}

unsigned receiver_process(struct receiver *r, struct rte_mbuf *m, struct rte_mbuf **frames) {
	struct depi d = {
		.m = m,
		.frame = rte_pktmbuf_mtod(m, const uint8_t *),
		.size = rte_pktmbuf_pkt_len(m),
	};
	struct session *s;
	struct psp_stream *psp_stream;

	r->account->depi_frames++;
	r->account->depi_bytes += d.size;
	if (d.size > SCRATCH_SIZE) {
		violate(r, VIOLATION_MTU, 1);
		return 0;
	}
	headers_gather(r, &d, RTE_MIN(d.size, (uint32_t)HEADERS));
	if (!l2tp_good(r, &d))
		return 0;
	outer_check(r->config, d.frame, &d.l2tp, r->account);
	s = session_slot(r, d.l2tp.session);
	if (s->id == 0)
		return session_unknown(r, d.size);
	if (!psp_good(r, &d, s->config.psp_extra == PSP_EXTRA_NONE ? 0 : 2)) {
		violate(r, VIOLATION_PSP, 1);
		open_drop(r, &s->streams[0]); /* the frame's PSP flow is unknown */
		return 0;
	}
	if (!outer_psp_good(r->config, r->message_flow, d.l2tp.payload))
		violate(r, VIOLATION_PSP_FIELDS, 1);
	meters_depi(r->meters, s->channel, d.size, rte_rdtsc());
	psp_stream = &s->streams[d.psp.flow];
	extra_check(r, s, psp_stream, &d.psp);
	return psp_process(r, s, psp_stream, &d, frames);
}
