/* SPDX-License-Identifier: BSD-3-Clause */
/* Verifies tag, stream, headers and payload of a packet. */
#include "modems/verifier.h"

#include "core/end_tag.h"
#include "proof/prefetch.h"
#include "wire/docsis_mac.h"

/* modems_check() has checked the destination address, which the CMTS rewrites. */
#define FIRST_COMPARED 6

static bool tag_good(const struct generator *g, const struct targets *targets,
		     const struct packet_tag *tag) {
	return targets != NULL && tag->target < targets->flow_count &&
	       tag->sequence < g->sent[targets_of(targets, tag->target)->stream];
}

/* Whether the frame may carry `stream`. A DSID identifies the stream; without one, the modem must
 * have a flow of that stream whose headers have this kind and priority. */
static bool stream_good(const struct frame_info *info, uint32_t stream) {
	const struct flow_state *flows = &info->modems->flows[info->modem->first_flow];

	if (info->stream != FRAME_NO_STREAM)
		return info->stream == stream;
	for (uint32_t f = 0; f < info->modem->flow_count; f++) {
		if (flows[f].stream == stream)
			return flows[f].ds == info->ds &&
			       (info->ds == DS_EHDR_NONE || flows[f].priority == info->priority);
	}
	return false;
}

/* A packet made before a change may arrive elsewhere, if its stream and the receiver changed. */
static bool has_moved(const struct generator *g, const struct frame_info *info, uint32_t stream,
		      uint32_t magic) {
	uint32_t actual = info->modems->flows[info->modem->first_flow].stream;

	return generator_has_changed(g, stream, magic) && generator_has_changed(g, actual, magic);
}

/* A packet as it was sent. */
struct sent_packet {
	const struct packet_tag *tag;
	const uint8_t *headers;
	uint32_t headers_size;
	const uint8_t *payload;
	uint32_t stream;
};

static bool stream_makes(const struct generator *g, const struct sent_packet *p, uint32_t stream,
			 const uint8_t *frame) {
	return expected_rewrite(&g->rewrites, p->tag->magic, stream, p->headers, frame,
				FIRST_COMPARED, p->headers_size);
}

/*
 * Whether the rewrites of the service flow that carried the packet explain its headers. Without a
 * DSID and after a change of the modem, this may be any flow with the same kind of header and
 * priority.
 */
static bool headers_good(const struct generator *g, const struct frame_info *info,
			 const struct sent_packet *p, const uint8_t *frame) {
	const struct flow_state *flows = &info->modems->flows[info->modem->first_flow];

	if (info->stream != FRAME_NO_STREAM)
		return stream_makes(g, p, info->stream, frame);
	if (stream_makes(g, p, p->stream, frame))
		return true;
	if (!has_moved(g, info, p->stream, p->tag->magic))
		return false;
	for (uint32_t f = 0; f < info->modem->flow_count; f++) {
		if (flows[f].ds == info->ds && flows[f].priority == info->priority &&
		    stream_makes(g, p, flows[f].stream, frame))
			return true;
	}
	return false;
}

/* Compares `size` bytes of a frame with the headers and the payload that it must have. */
static enum corruption bytes_compare(const struct generator *g, const struct frame_info *info,
				     const struct sent_packet *p, const uint8_t *frame,
				     uint32_t size) {
	if (!headers_good(g, info, p, frame))
		return CORRUPTION_IP_HEADER;
	return memcmp(frame + p->headers_size, p->payload, size - p->headers_size) == 0
		       ? CORRUPTION_NONE
		       : CORRUPTION_PAYLOAD;
}

static enum corruption bytes_check(const struct generator *g, const struct frame_info *info,
				   const struct targets *targets, const struct packet_tag *tag,
				   const uint8_t *frame, uint32_t size) {
	const struct target *target = targets_of(targets, tag->target);
	uint32_t start = pattern_start(target->stream, tag->sequence);
	uint8_t expected[PACKET_START_MAX];
	const struct sent_packet sent = {tag, expected, target->min_size, g->pattern.bytes + start,
					 target->stream};

	packet_start_write(&target->template, tag, &g->pattern, start, size, expected);
	if (targets->flows != NULL)
		packet_vary(&target->template, &targets->flows[tag->target].variant, expected);
	return bytes_compare(g, info, &sent, frame, size);
}

static enum corruption verify_mixed(const struct generator *g, const struct frame_info *info,
				    const uint8_t *frame, uint32_t size, struct arrived *out) {
	size_t at = packet_tag_find(frame, size);
	const struct targets *targets;
	const struct target *target;
	struct packet_tag tag;

	if (at == 0 || size > PACKET_SIZE_MAX)
		return CORRUPTION_TAG;
	packet_tag_read(frame + at, &tag);
	targets = generator_targets(g, tag.magic);
	if (!tag_good(g, targets, &tag))
		return CORRUPTION_TAG;
	target = targets_of(targets, tag.target);
	if (!stream_good(info, target->stream) && !has_moved(g, info, target->stream, tag.magic))
		return CORRUPTION_STREAM;
	if (at + PACKET_TAG_SIZE != target->min_size)
		return CORRUPTION_IP_HEADER;
	*out = (struct arrived){
		.tsc = tag.tsc,
		.stream = target->stream,
		.sequence = tag.sequence,
		.bytes = (uint16_t)size,
		.channel = (uint16_t)info->channel,
		.valid = true,
		.earlier = tag.magic != g->magic,
	};
	return bytes_check(g, info, targets, &tag, frame, size);
}

static enum corruption captured_check(const struct generator *g, const struct frame_info *info,
				      uint32_t stream, const struct packet_tag *tag,
				      const uint8_t *frame, uint32_t size) {
	const struct replayed_packet *p = &g->replay->packets[tag->target];
	uint8_t expected[PACKET_SIZE_MAX];
	const struct sent_packet sent = {tag, expected, p->headers, expected + p->headers, stream};

	if (size != p->size)
		return CORRUPTION_LENGTH;
	replayed_write(g->replay, tag->target, tag, expected);
	return bytes_compare(g, info, &sent, frame, size);
}

static enum corruption verify_captured(const struct generator *g, const struct frame_info *info,
				       const uint8_t *frame, uint32_t size, struct arrived *out) {
	size_t at = end_tag_find(frame, size);
	const struct replayed_packet *p;
	struct packet_tag tag;
	uint32_t stream;

	if (at == 0)
		return CORRUPTION_TAG;
	packet_tag_read(frame + at, &tag);
	if (tag.magic != g->magic || tag.target >= g->replay->count)
		return CORRUPTION_TAG;
	p = &g->replay->packets[tag.target];
	stream = targets_stream(&g->targets, p->modem, p->flow);
	if (tag.sequence >= g->sent[stream])
		return CORRUPTION_TAG;
	if (!stream_good(info, stream))
		return CORRUPTION_STREAM;
	*out = (struct arrived){
		.tsc = tag.tsc,
		.stream = stream,
		.sequence = tag.sequence,
		.bytes = (uint16_t)size,
		.channel = (uint16_t)info->channel,
		.valid = true,
	};
	return captured_check(g, info, stream, &tag, frame, size);
}

void verify_prefetch(const struct generator *g, const struct frame_info *info, const uint8_t *frame,
		     uint32_t size) {
	size_t at = g->replay == NULL ? packet_tag_find(frame, size) : 0;
	const struct targets *targets;
	struct packet_tag tag;

	if (info->stream != FRAME_NO_STREAM)
		rte_prefetch0(&g->sent[info->stream]);
	if (at == 0)
		return;
	packet_tag_read(frame + at, &tag);
	targets = generator_targets(g, tag.magic);
	if (targets != NULL && tag.target < targets->flow_count)
		prefetch_record(targets_of(targets, tag.target), sizeof(*targets->all));
	if (info->stream != FRAME_NO_STREAM && size <= PACKET_SIZE_MAX)
		pattern_prefetch(&g->pattern, pattern_start(info->stream, tag.sequence),
				 size - (uint32_t)at - PACKET_TAG_SIZE);
}

enum corruption verify(const struct generator *g, const struct frame_info *info,
		       const uint8_t *frame, uint32_t size, struct arrived *out) {
	if (g->replay == NULL)
		return verify_mixed(g, info, frame, size, out);
	return verify_captured(g, info, frame, size, out);
}
