/* SPDX-License-Identifier: BSD-3-Clause */
#include "upstream/state/records.h"

#include <string.h>

void us_stream_init(struct us_stream *s, uint32_t flow, uint32_t modem, uint8_t cluster) {
	*s = (struct us_stream){.flow = flow, .modem = modem, .cluster = cluster, .lost = true};
	order_init(&s->order, US_SEQUENCE_MASK, US_SEGMENT_WINDOW);
	pending_init(&s->segments_pending, PENDING_SEGMENTS, modem);
	pending_init(&s->frame_pending, PENDING_FRAME, modem);
}

void us_keys_plan(struct us_keys *keys, const struct security_association *sa,
		  void *const *schedules) {
	struct crypto_key *present = &keys->generations[0], *next = &keys->generations[1];

	*keys = (struct us_keys){.needed = sa->cipher != CIPHER_NONE};
	present->schedule = keys->needed ? schedules[0] : NULL;
	present->cipher = (uint8_t)sa->cipher;
	present->sequence = sa->key_sequence;
	memcpy(present->iv, sa->iv, sizeof(sa->iv));
	next->schedule = keys->needed && sa->has_next_key ? schedules[1] : NULL;
	next->cipher = (uint8_t)sa->cipher;
	next->sequence = (sa->key_sequence + 1) % ASSOCIATION_SEQUENCES;
	memcpy(next->iv, sa->next_iv, sizeof(sa->next_iv));
}

static bool stream_plan(struct us_tables *t, struct us_flow_plan *p, uint8_t cluster) {
	const struct us_stream *before =
		p->is_new ? NULL : us_cluster_stream(t, &t->flows[p->flow], cluster);
	uint32_t s;

	if (before != NULL) {
		p->kept |= (uint8_t)(1u << p->stream_count);
		s = (uint32_t)(before - t->streams);
	} else {
		s = us_slot_alloc(&t->slots.streams);
		if (s == US_NONE)
			return false;
		us_stream_init(&t->streams[s], p->flow, p->modem, cluster);
	}
	p->streams[p->stream_count++] = s;
	return true;
}

bool us_flow_plan(struct us_tables *t, struct us_modem_data *modem_data, uint32_t which,
		  const struct upstream_service_flow *f, uint32_t modem, struct us_flow_plan *p) {
	struct us_modem_data_flow *o = &modem_data->flows[which];

	*p = (struct us_flow_plan){
		.modem = modem,
		.is_new = o->flow == US_NONE,
		.segment_header = f->segment_header,
		.overwrites_tos = f->overwrites_tos,
		.tos = f->tos,
		.sids = modem_data->sids + o->first_sid,
		.sid_count = (uint16_t)(o->sid_count + o->former_sids),
	};
	if (p->is_new)
		o->flow = us_slot_alloc(&t->slots.flows);
	p->flow = o->flow;
	if (p->flow == US_NONE)
		return false;
	if (p->is_new) {
		t->flows[p->flow] = (struct us_flow){.modem = modem};
		pending_init(&t->flows[p->flow].fragments.pending, PENDING_FRAGMENTS, modem);
	}
	for (size_t c = 0; c < f->cluster_count; c++) {
		if (!stream_plan(t, p, f->clusters[c].id))
			return false;
	}
	return true;
}

void us_flow_plan_undo(struct us_tables *t, const struct us_flow_plan *p) {
	for (unsigned i = p->stream_count; i > 0; i--) {
		if ((p->kept >> (i - 1) & 1) == 0)
			us_slot_free(&t->slots.streams, p->streams[i - 1]);
	}
	if (p->is_new && p->flow != US_NONE)
		us_slot_free(&t->slots.flows, p->flow);
}

void us_flow_put(struct us_tables *t, const struct us_flow_plan *p, const struct us_keys *keys) {
	struct us_flow *f = &t->flows[p->flow];

	f->segment_header = p->segment_header;
	f->overwrites_tos = p->overwrites_tos;
	t->tos[p->flow] = p->tos;
	f->has_key = keys->needed;
	f->sids = p->sids;
	f->sid_count = p->sid_count;
	memcpy(f->keys, keys->generations, sizeof(f->keys));
	memcpy(f->streams, p->streams, sizeof(f->streams));
	f->stream_count = p->stream_count;
}

struct us_modem us_modem_of(const struct us_modem_data *modem_data) {
	return (struct us_modem){
		.ipv4 = modem_data->ipv4,
		.ipv6 = (const uint8_t (*)[16])modem_data->ipv6,
		.ipv4_count = (uint16_t)(modem_data->ipv4_count + modem_data->former_ipv4),
		.ipv6_count = (uint16_t)(modem_data->ipv6_count + modem_data->former_ipv6),
	};
}

uint32_t us_session_plan(struct us_tables *t, uint32_t id, uint32_t channel,
			 enum us_session_kind kind, enum uepi_format format) {
	uint32_t slot = us_slot_alloc(&t->slots.sessions);
	struct us_session *s = &t->sessions[slot];

	if (slot == US_NONE)
		return US_NONE;
	memset(s, 0, sizeof(*s));
	s->id = id;
	s->channel = (uint16_t)channel;
	s->kind = kind;
	s->format = format;
	for (unsigned f = 0; f < US_PSP_FLOWS; f++) {
		order_init(&s->flows[f].order, UINT16_MAX, US_PSP_WINDOW);
		pending_init(&s->flows[f].pending, PENDING_PACKETS, PENDING_NO_MODEM);
		pending_init(&s->flows[f].burst.pending, PENDING_BURST, PENDING_NO_MODEM);
	}
	return slot;
}
