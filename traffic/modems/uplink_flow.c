/* SPDX-License-Identifier: BSD-3-Clause */
/* Service flows and their round robin. */
#include "modems/uplink_flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/first_number.h"
#include "proof/prefetch.h"

#define MANAGEMENT_GRANTS 4096 /* grants per modem from one RNG-REQ to the next */

/* Maximum bytes that a stream keeps for later grants: the rest of a frame, or pre-3.0 a unit, which
 * exceeds the grant by up to a frame. `any`: after a change, the stream may be of either kind. */
static size_t rest_size(const struct uplink_stream *s, uint32_t grant, bool any) {
	return s->segment_header && !any ? UPLINK_FRAME_MAX : grant + UPLINK_GRANT_SLACK;
}

/* Allocates the `leftover` of all streams. Returns false if memory is short. */
static bool rests_create(struct uplink_flows *f, uint32_t grant, bool any) {
	size_t size = 0;

	for (uint32_t s = 0; s < f->stream_count; s++)
		size += rest_size(&f->streams[s], grant, any);
	f->leftovers = malloc(size + 1);
	size = 0;
	for (uint32_t s = 0; f->leftovers != NULL && s < f->stream_count; s++) {
		f->streams[s].leftover = f->leftovers + size;
		size += rest_size(&f->streams[s], grant, any);
	}
	return f->leftovers != NULL;
}

/* Connects the streams of the plan with their modems and SID clusters. */
static void streams_plan(struct uplink_flows *f) {
	for (uint32_t i = 0; i < f->plan.cluster_count; i++) {
		const struct uplink_cluster *cluster = &f->plan.clusters[i];
		struct uplink_stream *s = &f->streams[cluster->stream];

		s->cluster = &cluster->cluster;
		s->modem = &f->plan.modems[cluster->modem];
		s->owner = s->modem->index;
		s->index = cluster->stream;
		s->segment_header = cluster->segment_header;
		s->planned = true;
	}
}

int uplink_flows_create(struct uplink_flows *f, const struct uplink_plan *plan, uint32_t grant,
			uint32_t capacity) {
	*f = (struct uplink_flows){
		.plan = *plan,
		.stream_count = capacity > 0 ? capacity : plan->cluster_count,
	};
	if (plan->cluster_count == 0) {
		fprintf(stderr, "traffic: no modem has an address and an upstream service flow\n");
		return -1;
	}
	f->streams = calloc(f->stream_count, sizeof(*f->streams));
	if (f->streams != NULL && plan->cluster_count <= f->stream_count) {
		streams_plan(f);
		for (uint32_t s = 0; s < f->stream_count; s++)
			f->streams[s].sequence = first_number();
		if (rests_create(f, grant, capacity > 0))
			return 0;
	}
	fprintf(stderr, "traffic: no memory for %u upstream flows\n", plan->count);
	return -1;
}

void uplink_flows_free(struct uplink_flows *f) {
	uplink_plan_free(&f->plan);
	free(f->streams);
	free(f->leftovers);
	memset(f, 0, sizeof(*f));
}

/* Restarts a stream for another use of its number. */
static void uplink_stream_begin(struct uplink_stream *s) {
	uint8_t *leftover = s->leftover;

	memset(s, 0, sizeof(*s));
	s->leftover = leftover;
	s->sequence = first_number();
}

/* Keeps the state of modems that remain. Both plans have the order of the service group. */
static void modems_inherit(struct uplink_plan *next, const struct uplink_plan *before) {
	for (uint32_t n = 0, b = 0; n < next->modem_count; n++) {
		struct uplink_modem *m = &next->modems[n];

		while (b < before->modem_count && before->modems[b].index < m->index)
			b++;
		if (b < before->modem_count && before->modems[b].index == m->index &&
		    memcmp(before->modems[b].mac, m->mac, sizeof(m->mac)) == 0) {
			m->encrypted = before->modems[b].encrypted;
			m->grants = before->modems[b].grants;
			m->same_key = uplink_key_same(m, &before->modems[b]);
		}
	}
}

/* Notes in the streams of a modem that its key changes before their next packet. */
static void modem_note_key(struct uplink_flows *f, const struct uplink_modem *m) {
	for (uint32_t i = 0; i < m->cluster_count; i++) {
		struct uplink_stream *s =
			&f->streams[f->plan.clusters[m->first_cluster + i].stream];

		s->rekeyed = s->made;
	}
}

static void keys_swap(struct uplink_modem *a, struct uplink_modem *b) {
	struct uplink_modem before = *a;

	memcpy(a->keys, b->keys, sizeof(a->keys));
	memcpy(a->stored, b->stored, sizeof(a->stored));
	a->key_count = b->key_count;
	memcpy(b->keys, before.keys, sizeof(b->keys));
	memcpy(b->stored, before.stored, sizeof(b->stored));
	b->key_count = before.key_count;
}

static int modem_index_compare(const void *key, const void *item) {
	const struct uplink_modem *a = key, *b = item;

	return (a->index > b->index) - (a->index < b->index);
}

void uplink_flows_rekey(struct uplink_flows *f, struct uplink_modem *next) {
	struct uplink_modem *m =
		bsearch(next, f->plan.modems, f->plan.modem_count, sizeof(*m), modem_index_compare);
	bool same;

	if (m == NULL)
		return; /* the modem sends nothing */
	same = uplink_key_same(m, next);
	keys_swap(m, next);
	if (!same)
		modem_note_key(f, m);
}

/* Ends the streams of the plan `before` that the current plan does not have. */
static void streams_end(struct uplink_flows *f, const struct uplink_plan *before) {
	for (uint32_t i = 0; i < before->cluster_count; i++) {
		struct uplink_stream *s = &f->streams[before->clusters[i].stream];

		if (s->planned)
			continue;
		f->unfinished -= s->left > 0;
		s->left = s->left_packets = 0;
		s->cluster = NULL;
		s->modem = NULL;
	}
}

void uplink_flows_apply(struct uplink_flows *f, struct uplink_plan *next, const uint32_t *fresh,
			uint32_t fresh_count) {
	struct uplink_plan before = f->plan;

	for (uint32_t i = 0; i < before.cluster_count; i++)
		f->streams[before.clusters[i].stream].planned = false;
	for (uint32_t i = 0; i < fresh_count; i++)
		uplink_stream_begin(&f->streams[fresh[i]]);
	modems_inherit(next, &before);
	f->plan = *next;
	streams_plan(f);
	streams_end(f, &before);
	for (uint32_t m = 0; m < f->plan.modem_count; m++) {
		if (!f->plan.modems[m].same_key)
			modem_note_key(f, &f->plan.modems[m]);
	}
	f->next = 0;
	*next = before;
}

uint32_t uplink_flows_other_modem(const struct uplink_flows *f, struct random *random,
				  uint32_t modem) {
	const struct uplink_modem *other;

	do
		other = &f->plan.modems[random_below(random, f->plan.modem_count)];
	while (other->index == modem);
	return other->index;
}

void uplink_flows_restart(struct uplink_flows *f) {
	for (uint32_t s = 0; s < f->stream_count; s++)
		f->streams[s].made = f->streams[s].ended = 0;
	f->sent = f->sent_bytes = 0;
}

/* Returns `next`, and advances it to the next of `number` in round robin. */
static uint32_t rotate(uint32_t *next, uint32_t number) {
	uint32_t now = *next;

	*next = now + 1 == number ? 0 : now + 1;
	return now;
}

struct uplink_stream *uplink_flows_next(struct uplink_flows *f) {
	struct uplink_flow *flow = &f->plan.all[rotate(&f->next, f->plan.count)];
	uint32_t cluster = flow->first + rotate(&flow->next, flow->count);

	return &f->streams[f->plan.clusters[cluster].stream];
}

/* Prefetches the stream that gets the next grant, and its modem. */
static void next_prefetch(const struct uplink_flows *f) {
	const struct uplink_flow *flow = &f->plan.all[f->next];
	const struct uplink_cluster *c = &f->plan.clusters[flow->first + flow->next];

	prefetch_record(&f->streams[c->stream], offsetof(struct uplink_stream, sent_at));
	prefetch_record(&f->plan.modems[c->modem], sizeof(*f->plan.modems));
}

void uplink_flows_grant(struct uplink_flows *f, bool rest_only, struct uplink_grant *g) {
	struct uplink_stream *s = uplink_flows_next(f);
	uint32_t sid;

	while (rest_only && s->left == 0)
		s = uplink_flows_next(f);
	next_prefetch(f);
	sid = s->next_sid;
	s->next_sid = sid + 1 == s->cluster->sid_count ? 0 : (uint8_t)(sid + 1);
	g->stream = s;
	g->sid = &s->cluster->sids[sid];
	g->management = !rest_only && s->modem->grants++ % MANAGEMENT_GRANTS == 0;
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
		.sequence = s->made,
		.tsc = s->scheduled ? s->arrivals[s->made & s->arrivals_mask] : made->tsc,
	};

	s->made++;
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
