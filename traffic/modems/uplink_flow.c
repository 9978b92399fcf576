/* SPDX-License-Identifier: BSD-3-Clause */
/* Service flows and whose turn it is. */
#include "modems/uplink_flow.h"

#include <stdio.h>
#include <stdlib.h>

#define MANAGEMENT_GRANTS 4096 /* of a modem, from one RNG-REQ to the next */

static bool sends(const struct modem *m) {
	return m->address_count > 0 && m->upstream_flow_count > 0;
}

static void streams_count(struct uplink_flows *f, const struct service_group *sg) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		const struct modem *modem = &sg->modems[m];

		if (!sends(modem))
			continue;
		f->modem_count++;
		f->count += (uint32_t)modem->upstream_flow_count;
		for (size_t u = 0; u < modem->upstream_flow_count; u++)
			f->stream_count += (uint32_t)modem->upstream_flows[u].cluster_count;
	}
}

/* What of one frame may be left, or pre-3.0 a whole unit of a grant and the frame that exceeds it. */
static size_t rest_size(const struct uplink_stream *s, uint32_t grant) {
	return s->segment_header ? UPLINK_FRAME_MAX : grant + UPLINK_GRANT_SLACK;
}

static bool rests_create(struct uplink_flows *f, uint32_t grant) {
	size_t size = 0;

	for (uint32_t s = 0; s < f->stream_count; s++)
		size += rest_size(&f->streams[s], grant);
	f->rests = malloc(size);
	size = 0;
	for (uint32_t s = 0; f->rests != NULL && s < f->stream_count; s++) {
		f->streams[s].rest = f->rests + size;
		size += rest_size(&f->streams[s], grant);
	}
	return f->rests != NULL;
}

static void uplink_flow_add(struct uplink_flows *f, const struct upstream_service_flow *config,
			    struct uplink_modem *modem) {
	f->all[f->count++] = (struct uplink_flow){
		.first = f->stream_count,
		.count = (uint32_t)config->cluster_count,
	};
	for (size_t c = 0; c < config->cluster_count; c++, f->stream_count++)
		f->streams[f->stream_count] = (struct uplink_stream){
			.cluster = &config->clusters[c],
			.modem = modem,
			.index = f->stream_count,
			.segment_header = config->segment_header,
		};
}

static int uplink_modem_add(struct uplink_flows *f, const struct service_group *sg, uint32_t index,
			    struct docsis_crypto *crypto) {
	const struct modem *config = &sg->modems[index];
	struct uplink_modem *modem = &f->modems[f->modem_count++];

	for (size_t u = 0; u < config->upstream_flow_count; u++)
		uplink_flow_add(f, &config->upstream_flows[u], modem);
	return uplink_modem_create(modem, sg, index, crypto);
}

int uplink_flows_create(struct uplink_flows *f, const struct service_group *sg, uint32_t grant,
			struct docsis_crypto *crypto) {
	memset(f, 0, sizeof(*f));
	streams_count(f, sg);
	if (f->stream_count == 0) {
		fprintf(stderr, "traffic: no modem has an address and an upstream service flow\n");
		return -1;
	}
	f->modems = calloc(f->modem_count, sizeof(*f->modems));
	f->all = calloc(f->count, sizeof(*f->all));
	f->streams = calloc(f->stream_count, sizeof(*f->streams));
	if (f->modems == NULL || f->all == NULL || f->streams == NULL) {
		fprintf(stderr, "traffic: no memory for %u upstream flows\n", f->count);
		return -1;
	}
	f->modem_count = f->count = f->stream_count = 0;
	for (uint32_t m = 0; m < sg->modem_count; m++) {
		if (sends(&sg->modems[m]) && uplink_modem_add(f, sg, m, crypto) != 0)
			return -1;
	}
	if (!rests_create(f, grant)) {
		fprintf(stderr, "traffic: no memory for %u upstream flows\n", f->count);
		return -1;
	}
	return 0;
}

void uplink_flows_free(struct uplink_flows *f, struct docsis_crypto *crypto) {
	for (uint32_t m = 0; f->modems != NULL && m < f->modem_count; m++)
		uplink_modem_free(&f->modems[m], crypto);
	free(f->modems);
	free(f->all);
	free(f->streams);
	free(f->rests);
	memset(f, 0, sizeof(*f));
}

void uplink_flows_restart(struct uplink_flows *f) {
	for (uint32_t s = 0; s < f->stream_count; s++)
		f->streams[s].made = f->streams[s].ended = 0;
	f->sent = f->sent_bytes = 0;
}

static uint32_t turn(uint32_t *next, uint32_t number) {
	uint32_t now = *next;

	*next = now + 1 == number ? 0 : now + 1;
	return now;
}

static struct uplink_stream *stream_next(struct uplink_flows *f) {
	struct uplink_flow *flow = &f->all[turn(&f->next, f->count)];

	return &f->streams[flow->first + turn(&flow->next, flow->count)];
}

void uplink_flows_grant(struct uplink_flows *f, bool finish, struct uplink_grant *g) {
	struct uplink_stream *s = stream_next(f);
	uint32_t sid;

	while (finish && s->left == 0)
		s = stream_next(f);
	sid = s->next_sid;
	s->next_sid = sid + 1 == s->cluster->sid_count ? 0 : (uint8_t)(sid + 1);
	g->stream = s;
	g->sid = &s->cluster->sids[sid];
	g->management = !finish && s->modem->grants++ % MANAGEMENT_GRANTS == 0;
}

void uplink_flows_ended(struct uplink_flows *f, const struct uplink_ended *ended, uint64_t tsc) {
	struct uplink_stream *s = &f->streams[ended->stream];

	for (uint32_t i = 0; i < ended->packets; i++)
		s->sent_at[(ended->first + i) % UPLINK_REMEMBERED] = tsc;
	f->sent += ended->packets;
	f->sent_bytes += ended->bytes;
}

struct packet_tag uplink_stream_tag(struct uplink_stream *s, const struct uplink_frames *frames,
				    struct uplink_made *made) {
	struct packet_tag tag = {
		.magic = frames->packets.magic,
		.target = s->index,
		.sequence = s->made++,
		.tsc = made->tsc,
	};

	s->sent_at[tag.sequence % UPLINK_REMEMBERED] = 0;
	made->packets++;
	made->bytes += uplink_packet_size(&frames->packets, tag.target, tag.sequence);
	return tag;
}

void uplink_grant_end(struct uplink_grant *g, const struct uplink_frames *frames,
		      uint32_t packets) {
	struct uplink_stream *s = g->stream;

	g->ended.packets += packets;
	for (; packets > 0; packets--)
		g->ended.bytes += uplink_packet_size(&frames->packets, s->index, s->ended++);
}
