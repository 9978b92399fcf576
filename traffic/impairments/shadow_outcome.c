/* SPDX-License-Identifier: BSD-3-Clause */
/* Models docs/upstream.md for complete frames: privacy, CRC, fragments, source address. Predicts
 * the outcome of each packet. */
#include "impairments/shadow.h"

#define FRAGMENT_MASK 0x0f

/* Marks the packet as lost or changed. */
static void fail(struct shadow_stream *st, const struct shadow_frame *f, uint64_t *count) {
	(*count)++;
	st->failures[f->sequence % SHADOW_REMEMBERED / 64] |= 1ull << f->sequence % 64;
}

/* Returns the drop reason of the frame, or DROP_REASONS for none. */
static enum drop_reason shadow_privacy(struct shadow *s, const struct shadow_stream *st,
				       const struct shadow_frame *f, bool inner) {
	if (st->has_key && !inner && f->fate == FATE_CLEAR)
		return DROP_PRIVACY_MISSING;
	if (f->fate == FATE_UNKNOWN_KEY)
		return DROP_KEY_UNKNOWN;
	shadow_count(s, f->encrypted ? COUNTER_DECRYPTED : COUNTER_CLEAR, 1);
	if (f->encrypted)
		shadow_count(s,
			     COUNTER_DECRYPTED_AES_128 + s->sg->modems[st->modem].security.cipher -
				     CIPHER_AES_128,
			     1);
	return DROP_REASONS;
}

static bool damaged(const struct shadow_frame *f) {
	return f->fate == FATE_PAYLOAD || f->fate == FATE_CRC || f->fate == FATE_WRONG_KEY;
}

/* Returns the drop reason of the packet, or DROP_REASONS for none. */
static enum drop_reason packet_reason(struct shadow *s, const struct shadow_stream *st,
				      const struct shadow_frame *f, bool inner) {
	enum drop_reason reason = shadow_privacy(s, st, f, inner);

	if (reason != DROP_REASONS)
		return reason;
	if (damaged(f) && s->sg->upstream.verify_crc)
		return DROP_FRAME_CRC;
	if (f->fate == FATE_SOURCE && s->sg->upstream.verify_source)
		return DROP_SOURCE_ADDRESS;
	shadow_count(s, COUNTER_TRANSMITTED, 1);
	return DROP_REASONS;
}

static void packet(struct shadow *s, struct shadow_stream *st, const struct shadow_frame *f,
		   bool inner) {
	enum drop_reason reason = packet_reason(s, st, f, inner);
	struct expected *e = &s->expected;

	if (reason != DROP_REASONS) {
		shadow_drop(s, reason);
		fail(st, f, &e->lost);
	} else if (f->fate == FATE_WRONG_KEY) { /* decrypts to bytes that are no IP packet */
		e->foreign++;
		fail(st, f, &e->lost);
	} else if (f->fate == FATE_PAYLOAD || f->fate == FATE_SOURCE) {
		fail(st, f, &e->corrupted);
	}
}

/* Joins the fragments of a unit: its packets are the first in `packets`. */
static void shadow_join(struct shadow *s, struct shadow_stream *st, uint32_t packets) {
	shadow_count(s, COUNTER_FRAGMENTS, st->fragments);
	st->fragments = 0;
	if (packets > 1) {
		shadow_count(s, COUNTER_FRAMES, 1);
		shadow_count(s, COUNTER_CONCATENATIONS, 1);
	}
	for (uint32_t i = 0; i < packets; i++) {
		struct shadow_frame *f = shadow_frames_get(&st->packets, i);

		shadow_count(s, COUNTER_FRAMES, 1);
		f->decided = true;
		packet(s, st, f, true);
	}
}

static void fragment(struct shadow *s, struct shadow_stream *st, const struct shadow_frame *f) {
	enum drop_reason reason = shadow_privacy(s, st, f, false);
	bool follows = f->first ? st->fragments == 0 : f->fragment == st->fragment;

	if (reason == DROP_REASONS && damaged(f))
		reason = DROP_FRAGMENT_CRC;
	if (reason != DROP_REASONS) {
		shadow_drop(s, reason);
		return;
	}
	if (!follows) {
		s->expected.drops[DROP_FRAGMENT_ORDER] += st->fragments;
		st->fragments = 0;
	}
	if (!f->first && st->fragments == 0) {
		shadow_drop(s, DROP_FRAGMENT_ORDER);
		return;
	}
	st->fragment = (f->fragment + 1) & FRAGMENT_MASK;
	st->fragments++;
	if (f->last)
		shadow_join(s, st, f->packets);
}

static void decided(struct shadow_stream *st, const struct shadow_frame *f) {
	uint32_t i = 0;

	while (i < st->frames.count && shadow_frames_get(&st->frames, i)->at != f->at)
		i++;
	if (i < st->frames.count)
		shadow_frames_get(&st->frames, i)->decided = true;
}

void shadow_complete(struct shadow *s, struct shadow_stream *st, const struct shadow_frame *f) {
	decided(st, f);
	switch (f->kind) {
	case DOCSIS_KIND_MANAGEMENT: shadow_management(s); break;
	case DOCSIS_KIND_FRAGMENT: fragment(s, st, f); break;
	default: packet(s, st, f, false); break;
	}
}

void shadow_settle(struct shadow *s, struct shadow_stream *st, const struct shadow_frame *f) {
	if (f->kind == DOCSIS_KIND_PACKET && !f->decided)
		fail(st, f, &s->expected.lost);
	if (f->kind != DOCSIS_KIND_FRAGMENT || !f->last)
		return;
	for (uint32_t i = 0; i < f->packets; i++) {
		const struct shadow_frame *inner = shadow_frames_get(&st->packets, 0);

		if (!inner->decided)
			fail(st, inner, &s->expected.lost);
		shadow_frames_pop(&st->packets);
	}
}
