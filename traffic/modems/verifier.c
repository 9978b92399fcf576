/* SPDX-License-Identifier: BSD-3-Clause */
/* Tag, stream, headers, payload. */
#include "modems/verifier.h"

#include "wire/docsis_mac.h"

/* The modem has set the destination address; the pipeline touches nothing else. */
#define FIRST_SAME_BYTE 6

static bool tag_good(const struct generator *g, const struct packet_tag *tag) {
	return tag->magic == g->magic && tag->target < g->targets.flow_count &&
	       tag->sequence < g->sent[targets_of(&g->targets, tag->target)->stream];
}

/* The stream must be the modem's and, by DSID or by the kind of header, the flow's. */
static bool stream_good(const struct modems *modems, const struct frame_info *info, uint32_t modem,
			uint32_t stream) {
	const struct flow_state *flow = &modems->flows[stream];

	if (modem != info->modem)
		return false;
	if (info->stream != FRAME_NO_STREAM)
		return info->stream == stream;
	return flow->ds == info->ds &&
	       (info->ds == DS_EHDR_NONE || flow->priority == info->priority);
}

/* `size` bytes of a frame with the headers and the payload that it must have. */
static enum corruption bytes_compare(const uint8_t *frame, const uint8_t *expected,
				     uint32_t headers, const uint8_t *payload, uint32_t size) {
	if (memcmp(frame + FIRST_SAME_BYTE, expected + FIRST_SAME_BYTE,
		   headers - FIRST_SAME_BYTE) != 0)
		return CORRUPTION_IP_HEADER;
	return memcmp(frame + headers, payload, size - headers) == 0 ? CORRUPTION_NONE
								     : CORRUPTION_PAYLOAD;
}

static enum corruption bytes_check(const struct generator *g, const struct target *target,
				   const struct packet_tag *tag, const uint8_t *frame,
				   uint32_t size) {
	uint32_t start = pattern_start(target->stream, tag->sequence);
	uint8_t expected[PACKET_START_MAX];
	uint32_t headers = target->min_size;

	packet_start_write(&target->template, tag, &g->pattern, start, size, expected);
	if (g->targets.flows != NULL)
		packet_vary(&target->template, &g->targets.flows[tag->target].variant, expected);
	return bytes_compare(frame, expected, headers, g->pattern.bytes + start, size);
}

static enum corruption verify_mixed(const struct generator *g, const struct modems *modems,
				    const struct frame_info *info, const uint8_t *frame,
				    uint32_t size, struct arrived *out) {
	size_t at = packet_tag_find(frame, size);
	const struct target *target;
	struct packet_tag tag;

	if (at == 0 || size > PACKET_SIZE_MAX)
		return CORRUPTION_TAG;
	packet_tag_read(frame + at, &tag);
	if (!tag_good(g, &tag))
		return CORRUPTION_TAG;
	target = targets_of(&g->targets, tag.target);
	if (!stream_good(modems, info, target->modem, target->stream))
		return CORRUPTION_STREAM;
	if (at + PACKET_TAG_SIZE != target->min_size)
		return CORRUPTION_IP_HEADER;
	*out = (struct arrived){
		.tsc = tag.tsc,
		.stream = target->stream,
		.sequence = tag.sequence,
		.bytes = (uint16_t)size,
		.valid = true,
	};
	return bytes_check(g, target, &tag, frame, size);
}

static enum corruption captured_check(const struct generator *g, const struct packet_tag *tag,
				      const uint8_t *frame, uint32_t size) {
	const struct captured_packet *p = &g->replay->packets[tag->target];
	uint8_t expected[PACKET_SIZE_MAX];

	if (size != p->size)
		return CORRUPTION_LENGTH;
	capture_replay_write(g->replay, tag->target, tag, expected);
	return bytes_compare(frame, expected, p->headers, expected + p->headers, size);
}

static enum corruption verify_captured(const struct generator *g, const struct modems *modems,
				       const struct frame_info *info, const uint8_t *frame,
				       uint32_t size, struct arrived *out) {
	size_t at = capture_tag_find(frame, size);
	const struct captured_packet *p;
	struct packet_tag tag;
	uint32_t stream;

	if (at == 0)
		return CORRUPTION_TAG;
	packet_tag_read(frame + at, &tag);
	if (tag.magic != g->magic || tag.target >= g->replay->count)
		return CORRUPTION_TAG;
	p = &g->replay->packets[tag.target];
	stream = g->targets.first_stream[p->modem] + p->flow;
	if (tag.sequence >= g->sent[stream])
		return CORRUPTION_TAG;
	if (!stream_good(modems, info, p->modem, stream))
		return CORRUPTION_STREAM;
	*out = (struct arrived){
		.tsc = tag.tsc,
		.stream = stream,
		.sequence = tag.sequence,
		.bytes = (uint16_t)size,
		.valid = true,
	};
	return captured_check(g, &tag, frame, size);
}

enum corruption verify(const struct generator *g, const struct modems *modems,
		       const struct frame_info *info, const uint8_t *frame, uint32_t size,
		       struct arrived *out) {
	if (g->replay == NULL)
		return verify_mixed(g, modems, info, frame, size, out);
	return verify_captured(g, modems, info, frame, size, out);
}
