/* SPDX-License-Identifier: BSD-3-Clause */
/* Impairs frames. frame_choose() changes key or source address before the frame is written; frame_made() draws wrong
 * bits before encryption, and impair_grant() flips them after it. Reports each frame and its fault to the shadow.
 * uplink_frame.h describes the callbacks. */
#include "impairments/impair.h"
#include "model/group/security.h"
#include "wire/crc32.h"
#include "wire/segment.h"

static struct shadow_stream *stream_of(struct impair *im, const struct uplink_grant *g) {
	return &im->shadow.streams[g->stream->index];
}

/* Number of the burst in which the frame begins. */
static uint32_t burst_number(const struct shadow_stream *st) {
	return st->grants - 1;
}

/* The impairments that can hit the frame, as a bitmap for impair_draw(). */
static uint32_t frame_allowed(const struct impair *im, const struct uplink_grant *g,
			      const struct uplink_frame *f) {
	uint32_t bits = 0;

	if (g->flip_count < UPLINK_FLIPS)
		bits |= impair_bit(IMPAIR_HEADER_ERROR) | impair_bit(IMPAIR_PAYLOAD_ERROR) |
			impair_bit(IMPAIR_CRC_ERROR);
	if (f->key != NULL)
		bits |= impair_bit(IMPAIR_WRONG_KEY) | impair_bit(IMPAIR_UNKNOWN_KEY) |
			impair_bit(IMPAIR_CLEAR);
	if (f->h.kind == DOCSIS_KIND_PACKET && im->flows->plan.modem_count > 1)
		bits |= impair_bit(IMPAIR_FOREIGN_SOURCE);
	return bits;
}

static uint8_t unknown_sequence(struct impair *im, const struct uplink_modem *m) {
	/* The numbers of the modem's two key generations are consecutive. */
	return (uint8_t)((m->keys[0].sequence + 2u +
			  random_below(&im->random, ASSOCIATION_SEQUENCES - 2)) %
			 ASSOCIATION_SEQUENCES);
}

static void grant_begun(struct impair *im, struct uplink_grant *g) {
	g->flip_count = 0;
	stream_of(im, g)->grants++;
}

static void frame_choose(struct impair *im, const struct uplink_grant *g, struct uplink_frame *f) {
	const struct shadow_stream *st = stream_of(im, g);

	f->mark = impair_draw(im, IMPAIR_FRAME, frame_allowed(im, g, f));
	if (f->mark == IMPAIRMENTS || !impair_may_hit(st, burst_number(st))) {
		f->mark = IMPAIRMENTS;
		return;
	}
	switch (f->mark) {
	case IMPAIR_WRONG_KEY: f->key = &im->foreign; break;
	case IMPAIR_UNKNOWN_KEY: f->h.key_sequence = unknown_sequence(im, g->stream->modem); break;
	case IMPAIR_CLEAR:
		f->key = NULL;
		uplink_key_name(&f->h, NULL);
		break;
	case IMPAIR_FOREIGN_SOURCE:
		f->modem = uplink_flows_other_modem(im->flows, &im->random, f->modem);
		break;
	default: break;
	}
}

/* A frame's PDU: the bytes from offset `from` are encrypted. */
struct pdu {
	const uint8_t *bytes;
	uint32_t size;
	uint32_t from; /* first encrypted byte */
	/* End of the packet's tag. Bytes before it stay intact, so that the receiver identifies the packet. 0: a
	 * fragment */
	uint32_t tag_end;
	uint32_t block; /* bytes of a cipher block; 0: not encrypted */
};

/* Whether a wrong bit in this byte damages a whole block. In a short last block (residual termination, SEC) it damages
 * only itself. */
static bool in_block(const struct pdu *p, uint32_t at) {
	return p->block != 0 && at >= p->from &&
	       at - p->from < (p->size - p->from) / p->block * p->block;
}

/* The first byte of the PDU that decrypts to a wrong value if a bit of byte `at` is wrong. */
static uint32_t harmed_from(const struct pdu *p, uint32_t at) {
	return in_block(p, at) ? at - (at - p->from) % p->block : at;
}

static struct pdu pdu_of(const struct uplink_frame *f, const uint8_t *frame, uint32_t size) {
	uint32_t header = (uint32_t)docsis_up_header_size(&f->h);
	struct pdu p = {
		.bytes = frame + header,
		.size = size - header,
		.from = DOCSIS_FRAGMENT_CLEAR,
		.block = f->key == NULL ? 0 : cipher_iv_size((enum cipher)f->key->cipher),
	};

	if (f->h.kind != DOCSIS_KIND_FRAGMENT) {
		p.from = DOCSIS_CLEAR_SIZE;
		p.tag_end = (uint32_t)packet_tag_find(p.bytes, p.size - ETHERNET_CRC_SIZE) +
			    PACKET_TAG_SIZE;
	}
	return p;
}

static void flip(struct impair *im, struct uplink_grant *g, uint32_t at) {
	g->flips[g->flip_count++] = (struct uplink_flip){
		.at = (uint16_t)at,
		.mask = (uint8_t)(1u << random_below(&im->random, 8)),
	};
}

/* Draws an offset in the PDU, from `first` to below `end`, whose damage spares the tag. Returns `end` if there is
 * none. */
static uint32_t choose_byte(struct impair *im, const struct pdu *p, uint32_t first, uint32_t end) {
	while (first < end && harmed_from(p, first) < p->tag_end)
		first++;
	if (first >= end)
		return end;
	return first + random_below(&im->random, end - first);
}

/* Draws a bit for impair_grant() to flip. Returns the frame's fate; FATE_GOOD, without a flip, if every bit would
 * harm the tag. */
static enum shadow_fate damage(struct impair *im, struct uplink_grant *g,
			       const struct uplink_frame *f, uint32_t at, uint32_t size) {
	struct pdu p = pdu_of(f, rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, at), size);
	uint32_t header = size - p.size;
	uint32_t payload_end = p.size - ETHERNET_CRC_SIZE;
	uint32_t byte;

	if (f->mark == IMPAIR_HEADER_ERROR) {
		/* Spares FC and ELEN, which locate the HCS. */
		flip(im, g,
		     at + DOCSIS_LEN_OFFSET +
			     random_below(&im->random, header - DOCSIS_LEN_OFFSET));
		return FATE_HEADER;
	}
	if (f->mark == IMPAIR_CRC_ERROR) {
		byte = choose_byte(im, &p, payload_end, p.size);
		if (byte == p.size)
			return FATE_GOOD;
		flip(im, g, at + header + byte);
		return harmed_from(&p, byte) < payload_end ? FATE_PAYLOAD : FATE_CRC;
	}
	byte = choose_byte(im, &p, p.tag_end, payload_end);
	if (byte == payload_end)
		return FATE_GOOD;
	flip(im, g, at + header + byte);
	return FATE_PAYLOAD;
}

static enum shadow_fate fate_of(struct impair *im, struct uplink_grant *g,
				const struct uplink_frame *f, uint32_t at, uint32_t size) {
	switch (f->mark) {
	case IMPAIR_HEADER_ERROR:
	case IMPAIR_PAYLOAD_ERROR:
	case IMPAIR_CRC_ERROR: return damage(im, g, f, at, size);
	case IMPAIR_WRONG_KEY: return FATE_WRONG_KEY;
	case IMPAIR_UNKNOWN_KEY: return FATE_UNKNOWN_KEY;
	case IMPAIR_CLEAR: return FATE_CLEAR;
	case IMPAIR_FOREIGN_SOURCE: return FATE_SOURCE;
	default: return FATE_GOOD;
	}
}

static struct shadow_frame shadow_of(const struct uplink_frame *f, uint32_t sequence) {
	bool fragment = f->h.kind == DOCSIS_KIND_FRAGMENT;

	return (struct shadow_frame){
		.sequence = sequence,
		.header = (uint16_t)docsis_up_header_size(&f->h),
		.sid = f->h.sid,
		.packets = fragment && f->h.fragment_last ? (uint8_t)sequence : 0,
		.fragment = f->h.fragment_sequence,
		.kind = f->h.kind,
		.encrypted = f->key != NULL,
		.request = f->h.request || f->h.piggyback != 0,
		.first = f->h.fragment_first,
		.last = f->h.fragment_last,
	};
}

static void frame_made(struct impair *im, struct uplink_grant *g, const struct uplink_frame *f,
		       uint32_t sequence, uint32_t at, uint32_t size) {
	struct shadow_frame shadow = shadow_of(f, sequence);
	struct shadow_stream *st = stream_of(im, g);

	shadow.size = size;
	shadow.fate = fate_of(im, g, f, at, size);
	if (shadow.fate != FATE_GOOD)
		impair_hit(im, st, burst_number(st), (enum impairment)f->mark);
	shadow_frame_made(&im->shadow, g->stream->index, &shadow, false);
}

static void inner_made(struct impair *im, const struct uplink_grant *g,
		       const struct uplink_frame *f, uint32_t sequence) {
	struct shadow_frame shadow = shadow_of(f, sequence);
	struct shadow_stream *st = stream_of(im, g);

	if (f->mark == IMPAIR_FOREIGN_SOURCE) {
		shadow.fate = FATE_SOURCE;
		impair_hit(im, st, burst_number(st), (enum impairment)f->mark);
	}
	shadow_frame_made(&im->shadow, g->stream->index, &shadow, true);
}

static void plain_made(struct impair *im, const struct uplink_grant *g, enum docsis_kind kind,
		       uint32_t size) {
	struct shadow_frame shadow = {
		.size = size,
		.header = kind == DOCSIS_KIND_QUEUE_REQUEST ? DOCSIS_QUEUE_REQUEST_SIZE
							    : DOCSIS_MAC_HEADER,
		.sid = g->sid->sid,
		.kind = kind,
		.request = kind == DOCSIS_KIND_REQUEST || kind == DOCSIS_KIND_QUEUE_REQUEST,
	};

	shadow_frame_made(&im->shadow, g->stream->index, &shadow, false);
}

const struct frame_impairer impair_frames = {
	.grant = grant_begun,
	.choose = frame_choose,
	.made = frame_made,
	.inner_made = inner_made,
	.plain_made = plain_made,
};

void impair_grant(struct impair *im, struct uplink_grant *g) {
	uint8_t *bytes = rte_pktmbuf_mtod(g->buffer, uint8_t *);

	if (im == NULL)
		return;
	for (unsigned i = 0; i < g->flip_count; i++)
		bytes[g->flips[i].at] ^= g->flips[i].mask;
}
