/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grants of modems before DOCSIS 3.0 (MULPI, concatenation, fragmentation): a burst begins with a
 * frame and ends with the end of a frame.
 *
 *     +---------------+---------+---------+        +----------+-----------------+------+
 *     | concatenation | frame 1 | frame 2 |   or   | fragment | piece of a unit | FCRC |
 *     +---------------+---------+---------+        +----------+-----------------+------+
 *
 * A unit is one frame, or a concatenation header and its frames. The frames in a fragmented unit
 * are not encrypted themselves.
 */
#include "modems/uplink_legacy.h"
#include "wire/crc32.h"

static uint8_t minislots(uint32_t bytes) {
	uint32_t n = (bytes + UPLINK_MINISLOT - 1) / UPLINK_MINISLOT;

	return (uint8_t)RTE_MIN(n, (uint32_t)UINT8_MAX);
}

static void legacy_request(struct uplink_grant *g, struct uplink_frames *frames, uint8_t slots,
			   bool piggyback) {
	if (slots == 0)
		return;
	g->request.size = slots;
	g->request.piggyback = piggyback;
	frames->requests++;
}

/* The header of a whole frame. The first header of a burst requests the next grant. */
static struct docsis_up_header frame_header(const struct uplink_grant *g, bool first) {
	bool encrypts = g->stream->modem->key_count > 0;
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_PACKET,
		.privacy = encrypts ? PRIVACY_BP_UP : PRIVACY_NONE,
		.sid = g->sid->sid,
	};

	if (first && encrypts)
		h.piggyback = minislots(g->size);
	else if (first) {
		h.request = true;
		h.request_minislots = minislots(g->size);
	}
	return h;
}

/* Number of packets that fit in a burst of `available` bytes. `size` gets their frames' size. */
static uint32_t whole_frames(const struct uplink_grant *g, const struct uplink_frames *frames,
			     uint32_t available, uint32_t *size) {
	const struct uplink_stream *s = g->stream;
	uint32_t max = g->whole ? 1 : UINT8_MAX;
	uint32_t n = 0;

	for (*size = 0; n < max; n++) {
		struct docsis_up_header h = frame_header(g, n == 0);
		uint32_t next = uplink_frame_size(frames, &h, s->index, s->made + n);
		uint32_t concatenation = n > 0 ? DOCSIS_MAC_HEADER : 0;

		if (concatenation + *size + next > available)
			break;
		*size += next;
	}
	return n;
}

static void concatenation_header(struct uplink_frames *frames, uint32_t count, uint32_t size,
				 uint8_t *out) {
	docsis_concatenation_write((uint8_t)count, size, out);
	frames->concatenations++;
}

static void whole_frame(struct uplink_grant *g, struct uplink_frames *frames, bool first,
			struct uplink_made *made) {
	struct uplink_stream *s = g->stream;
	struct uplink_frame f = {
		.h = frame_header(g, first),
		.key = uplink_key_next(s->modem),
		.modem = s->modem->index,
	};
	struct packet_tag tag = uplink_stream_tag(s, frames, made);
	uint32_t size;

	uplink_key_name(&f.h, f.key);
	impairer_choose(frames, g, &f);
	size = uplink_frame_packet(frames, &f.h, f.modem, &tag, f.key, g->buffer, g->filled);
	impairer_made(frames, g, &f, tag.sequence, g->filled, size);
	g->filled += size;
}

static void whole_add(struct uplink_grant *g, struct uplink_frames *frames, uint32_t count,
		      uint32_t size, struct uplink_made *made) {
	if (count > 1) {
		concatenation_header(frames, count, size,
				     rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, g->filled));
		impairer_plain_made(frames, g, DOCSIS_KIND_CONCATENATION, DOCSIS_MAC_HEADER);
		g->filled += DOCSIS_MAC_HEADER;
	}
	for (uint32_t n = 0; n < count; n++)
		whole_frame(g, frames, n == 0, made);
	uplink_grant_end(g, frames, count);
	legacy_request(g, frames, minislots(g->size), true);
}

/* Makes a unit that exceeds the grant, in the stream's `leftover`; fragment_add() sends it. */
static void unit_make(struct uplink_grant *g, struct uplink_frames *frames,
		      struct uplink_made *made) {
	struct uplink_stream *s = g->stream;
	uint32_t at = DOCSIS_MAC_HEADER; /* after the concatenation header */
	uint32_t count = 0;

	while (at <= g->size && count < UINT8_MAX) {
		struct packet_tag tag = uplink_stream_tag(s, frames, made);
		struct uplink_frame f = {
			.h.kind = DOCSIS_KIND_PACKET,
			.modem = s->modem->index,
		};

		impairer_choose(frames, g, &f);
		at += uplink_frame_clear(frames, &f.h, f.modem, &tag, s->leftover + at);
		if (frames->impairer != NULL)
			frames->impairer->inner_made(frames->impair, g, &f, tag.sequence);
		count++;
	}
	if (count > 1)
		concatenation_header(frames, count, at - DOCSIS_MAC_HEADER, s->leftover);
	s->left_at = count > 1 ? 0 : DOCSIS_MAC_HEADER;
	s->left = at - s->left_at;
	s->left_packets = count;
	s->sequence = 0;
}

static void fragment_add(struct uplink_grant *g, struct uplink_frames *frames) {
	struct uplink_stream *s = g->stream;
	struct uplink_frame f = {
		.h.kind = DOCSIS_KIND_FRAGMENT,
		.h.privacy = PRIVACY_BP_UP,
		.h.sid = g->sid->sid,
		.h.fragment_first = s->sequence == 0,
		.h.fragment_sequence = s->sequence & 0x0f,
		.key = uplink_key_next(s->modem),
	};
	uint32_t available =
		g->size - g->filled - (uint32_t)docsis_up_header_size(&f.h) - ETHERNET_CRC_SIZE;
	uint32_t part = RTE_MIN(s->left, available), size;

	uplink_key_name(&f.h, f.key);
	f.h.fragment_last = part == s->left;
	f.h.piggyback = minislots(s->left - part);
	impairer_choose(frames, g, &f);
	size = uplink_frame_fragment(frames, &f.h, s->leftover + s->left_at, part, f.key, g->buffer,
				     g->filled);
	impairer_made(frames, g, &f, s->left_packets, g->filled, size);
	g->filled += size;
	s->sequence++;
	s->left_at += part;
	s->left -= part;
	if (s->left == 0)
		uplink_grant_end(g, frames, s->left_packets);
	legacy_request(g, frames, f.h.piggyback, true);
}

static void legacy_request_add(struct uplink_grant *g, struct uplink_frames *frames) {
	uint8_t *out = rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, g->filled);

	impairer_plain_made(frames, g, DOCSIS_KIND_REQUEST, DOCSIS_MAC_HEADER);
	g->filled += (uint32_t)docsis_request_write(minislots(g->size), g->sid->sid, out);
	legacy_request(g, frames, minislots(g->size), false);
}

void uplink_legacy_fill(struct uplink_grant *g, struct uplink_frames *frames,
			struct uplink_made *made) {
	struct uplink_stream *s = g->stream;
	uint32_t count;
	uint32_t size;

	g->filled = 0;
	if (g->management)
		legacy_request_add(g, frames);
	if (s->left == 0) {
		count = whole_frames(g, frames, g->size - g->filled, &size);
		if (count > 0 && (g->whole || s->units++ % 2 == 0)) {
			whole_add(g, frames, count, size, made);
			return;
		}
		unit_make(g, frames, made);
	}
	fragment_add(g, frames);
}
