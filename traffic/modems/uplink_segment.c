/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Continuous concatenation and fragmentation (MULPI): consecutive frames, split where a grant ends.
 *
 *     buffer   | 8 | rest of the grant before | new frame | new frame |  new fra:me  |
 *               ^ segment header                                   grant ends here
 */
#include "modems/uplink_segment.h"
#include "wire/segment.h"

/* Counts `size` bytes of frames that complete `packets` packets. Bytes beyond the grant's end are left for the stream's
 * next grant. */
static void segment_add(struct uplink_grant *g, const struct uplink_frames *frames, uint32_t size,
			uint32_t packets) {
	struct uplink_stream *s = g->stream;

	g->filled += size;
	if (g->filled <= g->size - SEGMENT_HEADER_SIZE) {
		uplink_grant_end(g, frames, packets);
	} else {
		s->left = g->filled - (g->size - SEGMENT_HEADER_SIZE);
		s->left_packets = packets;
	}
}

static void packet_add(struct uplink_grant *g, struct uplink_frames *frames,
		       struct uplink_made *made) {
	struct uplink_stream *s = g->stream;
	const struct crypto_key *key = uplink_key_next(s->modem);
	struct uplink_frame f = {
		.h.kind = DOCSIS_KIND_PACKET,
		.h.privacy = key != NULL ? PRIVACY_BP_UP2 : PRIVACY_NONE,
		.h.sid = g->sid->sid,
		.key = key,
		.modem = s->modem->index,
	};
	struct packet_tag tag = uplink_stream_tag(s, frames, made);
	uint32_t at = SEGMENT_HEADER_SIZE + g->filled;
	uint32_t size;

	uplink_key_name(&f.h, key);
	impairer_choose(frames, g, &f);
	size = uplink_frame_packet(frames, &f.h, f.modem, &tag, f.key, g->buffer, at);
	impairer_made(frames, g, &f, tag.sequence, at, size);
	segment_add(g, frames, size, 1);
}

/* Adds a frame that the CMTS must drop, if the refuser has one. Returns whether it did. */
static bool refused_frame_add(struct uplink_grant *g, struct uplink_frames *frames) {
	uint32_t at = SEGMENT_HEADER_SIZE + g->filled;
	struct packet_tag tag;
	struct uplink_frame f;
	uint32_t size;

	if (frames->refuser == NULL || !frames->refuser->choose(frames->refused, g, &f, &tag))
		return false;
	size = uplink_frame_packet(frames, &f.h, f.modem, &tag, f.key, g->buffer, at);
	frames->refuser->written(frames->refused, &f,
				 rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, at), size);
	segment_add(g, frames, size, 0);
	return true;
}

/* Management messages are not encrypted (SEC, RNG-REQ). */
static void management_add(struct uplink_grant *g, struct uplink_frames *frames) {
	uint8_t *out =
		rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, SEGMENT_HEADER_SIZE + g->filled);

	impairer_plain_made(frames, g, DOCSIS_KIND_MANAGEMENT, UPLINK_RANGING_SIZE);
	segment_add(g, frames, uplink_frame_ranging(frames, g->stream->modem, g->sid->sid, out), 0);
}

static void segment_request_add(struct uplink_grant *g, struct uplink_frames *frames) {
	uint8_t *out =
		rte_pktmbuf_mtod_offset(g->buffer, uint8_t *, SEGMENT_HEADER_SIZE + g->filled);
	uint16_t units = (uint16_t)(g->size / UPLINK_REQUEST_UNIT);

	frames->requests++;
	g->request.size = units;
	g->request.piggyback = false;
	impairer_plain_made(frames, g, DOCSIS_KIND_QUEUE_REQUEST, DOCSIS_QUEUE_REQUEST_SIZE);
	segment_add(g, frames, (uint32_t)docsis_queue_request_write(units, g->sid->sid, out), 0);
}

/* Requests, in the segment header, the bytes of the unfinished frame. */
static void request_rest(struct uplink_grant *g, struct uplink_frames *frames) {
	uint32_t units = (g->stream->left + UPLINK_REQUEST_UNIT - 1) / UPLINK_REQUEST_UNIT;

	g->request.size = (uint16_t)units;
	g->request.piggyback = true;
	frames->requests++;
}

/* Requests, in the segment header, the bytes that access/ decided to request with this grant. */
static void request_queued(struct uplink_grant *g, struct uplink_frames *frames) {
	g->request.size = (uint16_t)(g->slot.request / g->slot.request_unit);
	g->request.piggyback = true;
	frames->requests += g->request.size > 0;
}

/* Whether there is another packet to send. */
static bool packet_queued(const struct uplink_grant *g) {
	return !g->stream->scheduled || g->stream->made != g->stream->arrived;
}

/* Reserves space for the bytes that the previous grant has left. They come first, and may exceed this grant too.
 * uplink_segment_finish() copies them. */
static void leftover_reserve(struct uplink_grant *g, const struct uplink_frames *frames) {
	struct uplink_stream *s = g->stream;
	uint32_t packets = s->left_packets;

	g->front = s->left;
	s->left = 0;
	s->left_packets = 0;
	segment_add(g, frames, g->front, packets);
}

void uplink_segment_fill(struct uplink_grant *g, struct uplink_frames *frames, bool rest_only,
			 struct uplink_made *made) {
	uint32_t available = g->size - SEGMENT_HEADER_SIZE;

	g->filled = 0;
	leftover_reserve(g, frames);
	if (g->management && g->filled < available)
		management_add(g, frames);
	if (g->management && g->filled < available)
		segment_request_add(g, frames);
	while (!rest_only && g->filled < available && packet_queued(g)) {
		if (!refused_frame_add(g, frames))
			packet_add(g, frames, made);
		if (g->whole)
			break;
	}
	g->request.n_bytes = true;
	g->request.cluster_valid = true;
	g->request.sid_cluster = g->stream->cluster->id;
	if (g->slot.from_map)
		request_queued(g, frames);
	else if (g->stream->left > 0)
		request_rest(g, frames);
}

void uplink_segment_finish(struct uplink_grant *g) {
	struct uplink_stream *s = g->stream;
	uint32_t available = g->size - SEGMENT_HEADER_SIZE;
	uint32_t size = RTE_MIN(g->filled, available);
	struct segment_header header = {
		.pointer_valid = g->front < size,
		.pointer = (uint16_t)g->front,
		.sequence = s->sequence++,
		.sid_cluster = s->cluster->id,
		.request = g->request.piggyback ? g->request.size : 0,
	};
	uint8_t *segment = rte_pktmbuf_mtod(g->buffer, uint8_t *);

	segment_header_write(&header, segment);
	memcpy(segment + SEGMENT_HEADER_SIZE, s->leftover, g->front);
	memcpy(s->leftover, segment + SEGMENT_HEADER_SIZE + size, g->filled - size);
	g->payload = segment;
	g->payload_size = SEGMENT_HEADER_SIZE + size;
}
