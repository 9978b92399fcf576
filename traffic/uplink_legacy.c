/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modems before DOCSIS 3.0 (MULPI, concatenation, fragmentation): a burst starts with a frame and
 * ends its last one.
 *
 *     +---------------+---------+---------+        +----------+-----------------+------+
 *     | concatenation | frame 1 | frame 2 |   or   | fragment | piece of a unit | FCRC |
 *     +---------------+---------+---------+        +----------+-----------------+------+
 *
 * A unit is one frame, or a concatenation header and its frames. What is fragmented is not encrypted
 * itself.
 */
#include "uplink_flow.h"
#include "wire/crc32.h"

static uint8_t minislots(uint32_t bytes) {
	uint32_t n = (bytes + UPLINK_MINISLOT - 1) / UPLINK_MINISLOT;

	return (uint8_t)RTE_MIN(n, (uint32_t)UINT8_MAX);
}

static void ask(struct uplink_grant *g, struct uplink_frames *frames, uint8_t slots,
		bool piggyback) {
	if (slots == 0)
		return;
	g->request.size = slots;
	g->request.piggyback = piggyback;
	frames->requests++;
}

/* The header of a whole frame; the first of a burst asks for the next grant. */
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

/* How many of the next packets make a burst of at most `room` bytes. `size` gets their frames'. */
static uint32_t whole_frames(const struct uplink_grant *g, const struct uplink_frames *frames,
			     uint32_t room, uint32_t *size) {
	const struct uplink_stream *s = g->stream;
	uint32_t n = 0;

	for (*size = 0; n < UINT8_MAX; n++) {
		struct docsis_up_header h = frame_header(g, n == 0);
		uint32_t next = uplink_frame_size(frames, &h, s->index, s->made + n);
		uint32_t concatenation = n > 0 ? DOCSIS_MAC_HEADER : 0;

		if (concatenation + *size + next > room)
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

static void whole_add(struct uplink_grant *g, struct uplink_frames *frames, uint32_t count,
		      uint32_t size, struct uplink_made *made) {
	struct uplink_stream *s = g->stream;

	if (count > 1) {
		concatenation_header(frames, count, size,
				     rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, g->filled));
		g->filled += DOCSIS_MAC_HEADER;
	}
	for (uint32_t n = 0; n < count; n++) {
		struct docsis_up_header h = frame_header(g, n == 0);
		const struct uplink_key *key = uplink_key_next(s->modem);
		struct packet_tag tag = uplink_stream_tag(s, frames, made);

		uplink_key_name(&h, key);
		g->filled += uplink_frame_packet(frames, &h, s->modem->index, &tag, key, g->buffer,
						 g->filled);
	}
	uplink_grant_end(g, frames, count);
	ask(g, frames, minislots(g->size), true);
}

/* Makes a unit that is longer than the grant, and leaves all of it. */
static void unit_make(struct uplink_grant *g, struct uplink_frames *frames,
		      struct uplink_made *made) {
	static const struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	struct uplink_stream *s = g->stream;
	uint32_t at = DOCSIS_MAC_HEADER; /* behind the concatenation header */
	uint32_t count = 0;

	while (at <= g->size && count < UINT8_MAX) {
		struct packet_tag tag = uplink_stream_tag(s, frames, made);

		at += uplink_frame_clear(frames, &h, s->modem->index, &tag, s->rest + at);
		count++;
	}
	if (count > 1)
		concatenation_header(frames, count, at - DOCSIS_MAC_HEADER, s->rest);
	s->left_at = count > 1 ? 0 : DOCSIS_MAC_HEADER;
	s->left = at - s->left_at;
	s->left_packets = count;
	s->sequence = 0;
}

static void fragment_add(struct uplink_grant *g, struct uplink_frames *frames) {
	struct uplink_stream *s = g->stream;
	const struct uplink_key *key = uplink_key_next(s->modem);
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.sid = g->sid->sid,
		.fragment_first = s->sequence == 0,
		.fragment_sequence = s->sequence & 0x0f,
	};
	uint32_t room =
		g->size - g->filled - (uint32_t)docsis_up_header_size(&h) - ETHERNET_CRC_SIZE;
	uint32_t size = RTE_MIN(s->left, room);

	uplink_key_name(&h, key);
	h.fragment_last = size == s->left;
	h.piggyback = minislots(s->left - size);
	g->filled += uplink_frame_fragment(frames, &h, s->rest + s->left_at, size, key, g->buffer,
					   g->filled);
	s->sequence++;
	s->left_at += size;
	s->left -= size;
	if (s->left == 0)
		uplink_grant_end(g, frames, s->left_packets);
	ask(g, frames, h.piggyback, true);
}

static void request_add(struct uplink_grant *g, struct uplink_frames *frames) {
	uint8_t *out = rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, g->filled);

	g->filled += (uint32_t)docsis_request_write(minislots(g->size), g->sid->sid, out);
	ask(g, frames, minislots(g->size), false);
}

void uplink_legacy_fill(struct uplink_grant *g, struct uplink_frames *frames,
			struct uplink_made *made) {
	struct uplink_stream *s = g->stream;
	uint32_t count;
	uint32_t size;

	g->filled = 0;
	if (g->management)
		request_add(g, frames);
	if (s->left == 0) {
		count = whole_frames(g, frames, g->size - g->filled, &size);
		if (count > 0 && s->units++ % 2 == 0) {
			whole_add(g, frames, count, size, made);
			return;
		}
		unit_make(g, frames, made);
	}
	fragment_add(g, frames);
}
