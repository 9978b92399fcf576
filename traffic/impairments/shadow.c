/* SPDX-License-Identifier: BSD-3-Clause */
/* Records frames and bursts as they are made, and the CMTS' counts beside them. */
#include "impairments/shadow.h"

#include <stdlib.h>

#define FRAMES_MIN 64

static void sids_note(struct shadow *s, const struct sid_cluster *cluster) {
	for (size_t i = 0; i < cluster->sid_count; i++) {
		const struct upstream_sid *sid = &cluster->sids[i];

		s->sids[sid->channel][sid->sid / 64] |= 1ull << sid->sid % 64;
	}
}

int shadow_create(struct shadow *s, const struct service_group *sg, uint32_t streams) {
	*s = (struct shadow){.sg = sg, .stream_count = streams};
	s->streams = calloc(streams, sizeof(*s->streams));
	s->sids = calloc(sg->upstream_channel_count, sizeof(*s->sids));
	if (s->streams == NULL || s->sids == NULL)
		return -1;
	for (uint32_t i = 0; i < streams; i++)
		s->streams[i].lost = true;
	for (size_t m = 0; m < sg->modem_count; m++) {
		for (size_t f = 0; f < sg->modems[m].upstream_flow_count; f++) {
			const struct upstream_service_flow *flow = &sg->modems[m].upstream_flows[f];

			for (size_t c = 0; c < flow->cluster_count; c++)
				sids_note(s, &flow->clusters[c]);
		}
	}
	return 0;
}

static void stream_free(struct shadow_stream *st) {
	while (st->first_burst != NULL) {
		struct shadow_burst *b = st->first_burst;

		st->first_burst = b->next;
		free(b);
	}
	free(st->frames.all);
	free(st->packets.all);
}

void shadow_free(struct shadow *s) {
	for (uint32_t i = 0; s->streams != NULL && i < s->stream_count; i++)
		stream_free(&s->streams[i]);
	free(s->streams);
	free(s->sids);
	*s = (struct shadow){0};
}

bool shadow_predicts(enum counter counter) {
	switch (counter) {
	case COUNTER_RECEIVED_BYTES: /* the shadow does not know lengths of packets */
	case COUNTER_TRANSMITTED_BYTES:
	case COUNTER_IPV4: /* nor their contents */
	case COUNTER_IPV6:
	case COUNTER_LLC:
	case COUNTER_PSP_OFDMA: /* depends on how the R-PHY device fills packets */
	case COUNTER_PSP_PARTIAL:
	case COUNTER_SEGMENT_BYTES:
	case COUNTER_CRC_VERIFIED:
	case COUNTER_SEGMENTS_REORDERED: /* depends on the time of arrival */
	case COUNTER_TRANSMIT_RETRIES: return false;
	default: return counter_in(counter, DIRECTION_UP);
	}
}

bool shadow_knows_sid(const struct shadow *s, uint32_t channel, uint32_t sid) {
	return (s->sids[channel][sid / 64] >> sid % 64 & 1) != 0;
}

static bool frames_grow(struct shadow_frames *f) {
	uint32_t size = f->size == 0 ? FRAMES_MIN : 2 * f->size;
	struct shadow_frame *all = malloc(size * sizeof(*all));

	if (all == NULL)
		return false;
	for (uint32_t i = 0; i < f->count; i++)
		all[i] = *shadow_frames_get(f, i);
	free(f->all);
	f->all = all;
	f->size = size;
	f->first = 0;
	return true;
}

void shadow_frame_made(struct shadow *s, uint32_t stream, struct shadow_frame *f, bool inner) {
	struct shadow_stream *st = &s->streams[stream];
	struct shadow_frames *frames = inner ? &st->packets : &st->frames;

	f->at = st->made_at;
	if (!inner)
		st->made_at += f->size;
	if (f->kind == DOCSIS_KIND_PACKET)
		st->failures[f->sequence % SHADOW_REMEMBERED / 64] &= ~(1ull << f->sequence % 64);
	if (frames->count == frames->size && !frames_grow(frames)) {
		s->failed = true;
		return;
	}
	frames->count++;
	*shadow_frames_get(frames, frames->count - 1) = *f;
}

const struct shadow_frame *shadow_frame_at(const struct shadow_stream *st, uint64_t position) {
	for (uint32_t i = 0; i < st->frames.count; i++) {
		const struct shadow_frame *f = shadow_frames_get(&st->frames, i);

		if (position >= f->at && position < f->at + f->size)
			return f;
	}
	return NULL;
}

struct shadow_burst *shadow_burst_made(struct shadow *s, uint32_t stream, uint32_t size) {
	struct shadow_stream *st = &s->streams[stream];
	struct shadow_burst *b = malloc(sizeof(*b));

	if (b == NULL) {
		s->failed = true;
		return NULL;
	}
	*b = (struct shadow_burst){
		.stream = stream,
		.number = st->bursts++,
		.at = st->bursts_at,
		.size = size,
		.sent = size,
		.hit = IMPAIRMENTS,
	};
	st->bursts_at += size;
	if (st->first_burst == NULL)
		st->first_burst = b;
	else
		st->last_burst->next = b;
	st->last_burst = b;
	return b;
}

static bool cluster_has(const struct sid_cluster *cluster, uint32_t channel, uint32_t sid) {
	for (size_t i = 0; i < cluster->sid_count; i++) {
		if (cluster->sids[i].channel == channel && cluster->sids[i].sid == sid)
			return true;
	}
	return false;
}

static bool modem_has(const struct modem *m, uint32_t channel, uint32_t sid) {
	for (size_t f = 0; f < m->upstream_flow_count; f++) {
		for (size_t c = 0; c < m->upstream_flows[f].cluster_count; c++) {
			if (cluster_has(&m->upstream_flows[f].clusters[c], channel, sid))
				return true;
		}
	}
	return false;
}

void shadow_request(struct shadow *s, const struct shadow_stream *st, uint32_t channel,
		    uint32_t sid) {
	if (s->sg->upstream_channels[channel].request_session != 0)
		shadow_count(s, COUNTER_REQUESTS_REPEATED, 1);
	else if (modem_has(&s->sg->modems[st->modem], channel, sid))
		shadow_count(s, COUNTER_REQUESTS, 1);
	else
		shadow_count(s, COUNTER_BAD_REQUESTS, 1);
}

void shadow_management(struct shadow *s) {
	if (s->sg->control_port.device == NULL)
		shadow_drop(s, DROP_NO_CONTROL_PORT);
	else
		shadow_count(s, COUNTER_MANAGEMENT, 1);
}

void shadow_ranging(struct shadow *s) {
	shadow_count(s, COUNTER_BURSTS, 1);
	shadow_count(s, COUNTER_SEGMENTS, 1);
	shadow_count(s, COUNTER_EXTRACTED, 1);
	shadow_count(s, COUNTER_FRAMES, 1);
	shadow_management(s);
}

void shadow_record(struct shadow *s) {
	shadow_count(s, COUNTER_REQUESTS, 1);
}

bool shadow_delivers(const struct shadow *s, uint32_t stream, uint32_t sequence) {
	const struct shadow_stream *st = &s->streams[stream];

	return (st->failures[sequence % SHADOW_REMEMBERED / 64] >> sequence % 64 & 1) == 0;
}
