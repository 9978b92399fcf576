/* SPDX-License-Identifier: BSD-3-Clause */
#include "maps_model.h"

#include <string.h>

#define BYTE ((__int128)8 * MAPS_HZ)

static uint64_t most(uint64_t a, uint64_t b) {
	return a > b ? a : b;
}

void model_create(struct model *m, const struct maps_config *config) {
	memset(m, 0, sizeof(*m));
	m->start = config->start;
	m->channel_count = (uint32_t)config->channel_count;
	m->flow_bytes = config->flow_bytes != 0 ? config->flow_bytes : 16 << 20;
	for (uint32_t i = 0; i < m->channel_count; i++) {
		struct model_channel *c = &m->channels[i];
		uint64_t frames;

		c->set = config->channels[i];
		if (c->set.initial_interval == 0)
			c->set.initial_minislots = 0;
		frames = ((uint64_t)c->set.interval + c->set.frame / 2) / c->set.frame;
		c->frames = frames == 0 ? 1 : (uint32_t)frames;
		c->minislots = c->frames * c->set.frame_minislots;
		c->length = c->frames * c->set.frame;
		c->elements = c->set.kind == MAPS_OFDMA ? 490 : 240;
		c->unit = c->set.request_minislots;
	}
}

uint32_t model_minislots(const struct model_channel *c, uint32_t bytes) {
	uint32_t data = bytes / c->set.minislot_bytes + (bytes % c->set.minislot_bytes != 0);

	return c->set.burst_minislots + data;
}

static struct model_bucket bucket(const struct model *m, const struct model_flow *f, uint64_t rate,
				  uint64_t least) {
	uint64_t length = 0, depth;

	for (size_t i = 0; i < f->set.cluster_count; i++)
		for (uint32_t c = 0; c < m->channel_count; c++)
			if (f->masks[i] >> c & 1)
				length = most(length, m->channels[c].length);
	depth = most(2048 + (uint64_t)((__int128)rate * length / BYTE), least);
	depth = depth > 1 << 30 ? 1 << 30 : depth;
	return (struct model_bucket){depth * BYTE, depth * BYTE, rate};
}

static int set_of(struct model *m, uint32_t mask) {
	int unused = -1;

	for (int i = 0; i < MODEL_SETS; i++) {
		if (m->sets[i].users > 0 && m->sets[i].mask == mask)
			return i;
		if (m->sets[i].users == 0 && unused < 0)
			unused = i;
	}
	m->sets[unused].mask = mask;
	return unused;
}

static void forget(struct model *m, int flow) {
	struct model_flow *f = &m->flows[flow];

	if (f->state == MODEL_UNUSED)
		return;
	model_rest(m, flow);
	for (size_t i = 0; i < f->set.cluster_count; i++) {
		m->forgotten += f->owed[i];
		m->sets[f->sets[i]].users--;
	}
	memset(f, 0, sizeof(*f));
}

static void begin_service(struct model *m, int flow, uint64_t now) {
	struct model_flow *f = &m->flows[flow];
	bool polled =
		f->set.type == MAPS_NON_REAL_TIME_POLLING || f->set.type == MAPS_REAL_TIME_POLLING;
	uint64_t interval = polled ? f->set.poll_interval : f->set.grant_interval;

	if (f->set.type == MAPS_BEST_EFFORT)
		return;
	const struct model_channel *c = &m->channels[f->service_channel];
	f->used = now;
	f->next = m->start + c->number * c->length;
	f->next += (uint32_t)((uint32_t)flow * 0x9e3779b1u) * interval >> 32;
	if (f->set.type == MAPS_PROACTIVE) {
		__int128 bits = (__int128)f->set.guaranteed_rate * f->set.grant_interval;

		f->set.grant_bytes = (uint32_t)((bits + BYTE - 1) / BYTE);
		f->set.grants = 1;
	}
}

void model_set_flow(struct model *m, uint32_t flow, const struct maps_flow *s, uint64_t now) {
	struct model_flow *f = &m->flows[flow];

	forget(m, (int)flow);
	if (s->cluster_count == 0)
		return;
	f->state = MODEL_IDLE;
	f->set = *s;
	f->set.clusters = NULL;
	for (size_t i = 0; i < s->cluster_count; i++) {
		for (size_t j = 0; j < s->clusters[i].count; j++) {
			f->masks[i] |= 1u << s->clusters[i].sids[j].channel;
			f->sids[i][s->clusters[i].sids[j].channel] = s->clusters[i].sids[j].sid;
		}
		f->sets[i] = set_of(m, f->masks[i]);
		m->sets[f->sets[i]].users++;
	}
	f->heard = f->service_channel = s->clusters[0].sids[0].channel;
	f->rates[MODEL_SUSTAINED] = bucket(m, f, s->sustained, most(s->sustained_burst, 1522));
	f->rates[MODEL_PEAK] = bucket(m, f, s->peak, 1522);
	f->rates[MODEL_RESERVED] = bucket(m, f, s->reserved, s->reserved / 8 / 100);
	begin_service(m, (int)flow, now);
}

static void use(struct model *m, struct model_flow *f, uint64_t now) {
	const struct model_channel *c = &m->channels[f->service_channel];

	f->used = now;
	if (f->silent)
		f->next = m->start + c->number * c->length;
	f->silent = false;
}

void model_used(struct model *m, uint32_t flow, uint64_t now) {
	if (m->flows[flow].state != MODEL_UNUSED &&
	    m->flows[flow].set.type == MAPS_UNSOLICITED_ACTIVITY)
		use(m, &m->flows[flow], now);
}

uint32_t model_owed(const struct model_flow *f) {
	uint32_t sum = 0;

	for (size_t i = 0; i < f->set.cluster_count; i++)
		sum += f->owed[i];
	return sum;
}

enum maps_verdict model_request(struct model *m, const struct maps_request *r, uint64_t now) {
	struct model_flow *f;
	uint32_t bytes, room;

	if (r->channel < m->channel_count) {
		struct model_channel *c = &m->channels[r->channel];

		c->heard += r->contended;
		m->late_requests += (r->minislot_at == 0 ? now : r->minislot_at) < c->acked;
	}
	if (r->flow >= MODEL_FLOWS || r->cluster >= m->flows[r->flow].set.cluster_count)
		return MAPS_NO_FLOW;
	if (r->bytes == 0)
		return MAPS_NOTHING;
	f = &m->flows[r->flow];
	room = m->flow_bytes - model_owed(f);
	bytes = r->bytes < room ? r->bytes : room;
	if (r->channel < m->channel_count)
		f->heard = r->channel;
	if (f->set.type == MAPS_UNSOLICITED_ACTIVITY)
		use(m, f, now);
	m->asked += bytes;
	f->owed[r->cluster] += bytes;
	if (f->state == MODEL_IDLE && bytes > 0) {
		f->cluster = r->cluster;
		model_ready(m, (int)r->flow);
	}
	return bytes == r->bytes ? MAPS_TAKEN : MAPS_CUT;
}

void model_collisions(struct model *m, uint32_t channel, uint32_t lost) {
	uint64_t all = (uint64_t)m->channels[channel].collided + lost;

	m->channels[channel].collided = all < UINT16_MAX ? (uint32_t)all : UINT16_MAX;
	m->collisions += lost;
}

bool model_station(struct model *m, uint32_t channel, uint16_t sid) {
	struct model_channel *c = &m->channels[channel];

	if (channel >= m->channel_count || sid == 0 || sid >= MAP_SID_BROADCAST ||
	    c->set.station_minislots == 0 || c->station_count == 256)
		return false;
	c->stations[c->station_count++] = sid;
	return true;
}

bool model_slots(const struct model_channel *c) {
	return c->slots > c->elements / 8;
}

void model_use_minislots(struct model_channel *c, uint32_t minislots) {
	c->free -= minislots;
	c->open = model_slots(c) && c->free >= model_minislots(c, 128);
}
