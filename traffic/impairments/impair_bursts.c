/* SPDX-License-Identifier: BSD-3-Clause */
/* Impairs bursts of modems, up to their UEPI packets in the R-PHY device. */
#include "impairments/impair.h"
#include "wire/segment.h"

#define TRIES 4

/* Whether the burst may end at `position`: the front of the next segment must not match the missing
 * rest of the frame. */
static bool truncate_fits(const struct impair *im, const struct uplink_grant *g,
			  const struct shadow_burst *b, const struct shadow_frame *f,
			  uint64_t position) {
	const struct shadow_stream *st = &im->shadow.streams[b->stream];
	uint64_t end = b->at + b->size;
	const struct shadow_frame *across = shadow_frame_at(st, end);
	uint64_t front = across != NULL && across->at < end ? across->at + across->size - end : 0;

	if (position < f->at + f->header || position >= f->at + f->size)
		return false;
	if (!st->framed || f == across)
		return true;
	return front < g->size - SEGMENT_HEADER_SIZE && f->at + f->size - position != front;
}

/* Draws the truncated end of a burst within a PDU. Returns whether one was found. */
static bool truncate_burst(struct impair *im, const struct uplink_grant *g,
			   struct shadow_burst *b) {
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t position = b->at + 1 + random_below(&im->random, b->size - 1);
		const struct shadow_frame *f =
			shadow_frame_at(&im->shadow.streams[b->stream], position);

		if (f != NULL && truncate_fits(im, g, b, f, position)) {
			b->sent = (uint32_t)(position - b->at);
			return true;
		}
	}
	return false;
}

static uint16_t unknown_sid(struct impair *im, uint32_t channel) {
	uint32_t sid;

	do
		sid = 1 + random_below(&im->random, SG_MAX_SID);
	while (shadow_knows_sid(&im->shadow, channel, sid));
	return (uint16_t)sid;
}

static uint32_t burst_allowed(const struct shadow_stream *st, bool ofdma) {
	uint32_t bits = impair_bit(IMPAIR_UNKNOWN_SID) | impair_bit(IMPAIR_BURST_TRUNCATED) |
			impair_bit(IMPAIR_UEPI_HEADER_ERROR);

	if (st->framed)
		bits |= impair_bit(IMPAIR_SEGMENT_MISSING) |
			impair_bit(IMPAIR_SEGMENT_HEADER_ERROR);
	return ofdma ? bits | impair_bit(IMPAIR_TRAILER_ERROR) : bits;
}

static void segment_header_error(struct impair *im, struct uplink_grant *g) {
	uint32_t bit = random_below(&im->random, 8 * SEGMENT_HEADER_SIZE);

	rte_pktmbuf_mtod(g->buffer, uint8_t *)[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* Applies an impairment to the burst. Returns whether it could. */
static bool burst_apply(struct impair *im, struct uplink_grant *g, struct uplink_burst *b,
			enum impairment kind) {
	switch (kind) {
	case IMPAIR_SEGMENT_HEADER_ERROR: segment_header_error(im, g); break;
	case IMPAIR_UNKNOWN_SID: b->foreign_sid = unknown_sid(im, g->sid->channel); break;
	case IMPAIR_BURST_TRUNCATED:
		if (!truncate_burst(im, g, b->shadow))
			return false;
		b->truncated = b->shadow->size - b->shadow->sent;
		break;
	case IMPAIR_TRAILER_ERROR: b->trailer_damage = 1u << random_below(&im->random, 32); break;
	case IMPAIR_UEPI_HEADER_ERROR: b->header_damage = true; break;
	default: break;
	}
	return true;
}

bool impair_burst(struct impair *im, struct uplink_grant *g, struct uplink_burst *b) {
	const struct uplink_channel *channel = &im->rphy->channels[g->sid->channel];
	struct shadow_stream *st = &im->shadow.streams[g->stream->index];
	uint32_t header = st->framed ? SEGMENT_HEADER_SIZE : 0;
	struct shadow_burst *shadow =
		shadow_burst_made(&im->shadow, g->stream->index, b->size - header);
	enum impairment kind;

	if (shadow == NULL)
		return true;
	b->shadow = shadow;
	shadow->channel = (uint16_t)g->sid->channel;
	shadow->has_pointer = st->framed && g->front < shadow->size;
	shadow->pointer = shadow->at + g->front;
	shadow->request = st->framed && g->request.piggyback && g->request.size > 0;
	kind = impair_draw(im, IMPAIR_BURST, burst_allowed(st, channel->format == UEPI_OFDMA));
	if (kind != IMPAIRMENTS && impair_may_hit(st, shadow->number) &&
	    burst_apply(im, g, b, kind)) {
		shadow->hit = kind;
		impair_hit(im, st, shadow->number, kind);
	}
	if (shadow->hit == IMPAIR_SEGMENT_MISSING) {
		shadow_burst_missing(&im->shadow, shadow);
		return false;
	}
	if (b->request.size > 0 && channel->has_requests)
		shadow_record(&im->shadow);
	return true;
}
