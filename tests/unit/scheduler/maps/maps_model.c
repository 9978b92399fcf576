/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the model, and the layout of its MAPs. */
#include "maps_model.h"

#include <string.h>

#define BYTE ((__int128)8 * MAPS_HZ)

static uint64_t larger(uint64_t a, uint64_t b) {
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

/* A full bucket of `burst` bytes or, if more, 2,048 and the bytes of `rate` during the longest MAP of the channels. */
static struct model_bucket bucket(const struct model *m, const struct model_flow *f, uint64_t rate,
				  uint64_t burst) {
	uint64_t length = 0, depth;

	for (size_t i = 0; i < f->set.cluster_count; i++)
		for (uint32_t c = 0; c < m->channel_count; c++)
			if (f->masks[i] >> c & 1)
				length = larger(length, m->channels[c].length);
	depth = larger(2048 + (uint64_t)((__int128)rate * length / BYTE), burst);
	depth = depth > 1 << 30 ? 1 << 30 : depth;
	return (struct model_bucket){depth * BYTE, depth * BYTE, rate};
}

static int find_group(struct model *m, uint32_t mask) {
	int unused = -1;

	for (int i = 0; i < MODEL_GROUPS; i++) {
		if (m->groups[i].users > 0 && m->groups[i].mask == mask)
			return i;
		if (m->groups[i].users == 0 && unused < 0)
			unused = i;
	}
	m->groups[unused].mask = mask;
	return unused;
}

static void remove_flow(struct model *m, int flow) {
	struct model_flow *f = &m->flows[flow];

	if (f->state == MODEL_UNUSED)
		return;
	model_leave_lists(m, flow);
	for (size_t i = 0; i < f->set.cluster_count; i++) {
		m->forgotten += f->owed[i];
		m->groups[f->groups[i]].users--;
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

	remove_flow(m, (int)flow);
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
		f->groups[i] = find_group(m, f->masks[i]);
		m->groups[f->groups[i]].users++;
	}
	f->request_channel = f->service_channel = s->clusters[0].sids[0].channel;
	f->rates[MODEL_SUSTAINED] = bucket(m, f, s->sustained, larger(s->sustained_burst, 1522));
	f->rates[MODEL_PEAK] = bucket(m, f, s->peak, 1522);
	f->rates[MODEL_RESERVED] = bucket(m, f, s->reserved, s->reserved / 8 / 100);
	begin_service(m, (int)flow, now);
}

static void use_flow(struct model *m, struct model_flow *f, uint64_t now) {
	const struct model_channel *c = &m->channels[f->service_channel];

	f->used = now;
	if (f->silent)
		f->next = m->start + c->number * c->length;
	f->silent = false;
}

void model_used(struct model *m, uint32_t flow, uint64_t now) {
	if (m->flows[flow].state != MODEL_UNUSED &&
	    m->flows[flow].set.type == MAPS_UNSOLICITED_ACTIVITY)
		use_flow(m, &m->flows[flow], now);
}

uint32_t model_owed(const struct model_flow *f) {
	uint32_t sum = 0;

	for (size_t i = 0; i < f->set.cluster_count; i++)
		sum += f->owed[i];
	return sum;
}

enum maps_verdict model_request(struct model *m, const struct maps_request *r, uint64_t now) {
	struct model_flow *f;
	uint32_t bytes, space;

	if (r->channel < m->channel_count) {
		struct model_channel *c = &m->channels[r->channel];

		c->contended_requests += r->contended;
		m->late_requests += (r->minislot_at == 0 ? now : r->minislot_at) < c->acked;
	}
	if (r->flow >= MODEL_FLOWS || r->cluster >= m->flows[r->flow].set.cluster_count)
		return MAPS_NO_FLOW;
	if (r->bytes == 0)
		return MAPS_NOTHING;
	f = &m->flows[r->flow];
	space = m->flow_bytes - model_owed(f);
	bytes = r->bytes < space ? r->bytes : space;
	if (r->channel < m->channel_count)
		f->request_channel = r->channel;
	if (f->set.type == MAPS_UNSOLICITED_ACTIVITY)
		use_flow(m, f, now);
	m->requested += bytes;
	f->owed[r->cluster] += bytes;
	if (f->state == MODEL_IDLE && bytes > 0) {
		f->cluster = r->cluster;
		model_ready(m, (int)r->flow);
	}
	return bytes == r->bytes ? MAPS_ACCEPTED : MAPS_CAPPED;
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

bool model_has_slots(const struct model_channel *c) {
	return c->slots > c->elements / 8;
}

void model_use_minislots(struct model_channel *c, uint32_t minislots) {
	c->free -= minislots;
	c->open = model_has_slots(c) && c->free >= model_minislots(c, 128);
}

/* Adds a pending grant, if possible on the request's channel. Returns false without a free element. */
static bool add_pending(struct model *m, int flow, uint32_t cluster) {
	struct model_flow *f = &m->flows[flow];
	int best = -1;

	for (uint32_t i = 0; i < m->channel_count; i++) {
		if (!(f->masks[cluster] >> i & 1) || !m->channels[i].made ||
		    m->channels[i].slots == 0)
			continue;
		if (best < 0 || i == f->request_channel)
			best = (int)i;
	}
	if (best < 0)
		return false;
	m->channels[best].pending[m->channels[best].pending_count++] = f->sids[cluster][best];
	m->channels[best].slots--;
	return true;
}

static bool add_pending_list(struct model *m, const struct model_list *l) {
	for (int i = l->count; i-- > 0;) { /* the last flow of the list first */
		const struct model_flow *f = &m->flows[l->flows[i]];
		bool added = add_pending(m, l->flows[i], f->cluster);

		for (uint32_t c = 0; c < f->set.cluster_count; c++)
			if (c != f->cluster && f->owed[c] > 0)
				add_pending(m, l->flows[i], c);
		if (!added)
			return false; /* the group's remaining flows get none */
	}
	return true;
}

void model_add_pending(struct model *m) {
	for (int i = 0; i < MODEL_GROUPS; i++) {
		struct model_group *g = &m->groups[i];
		bool more = false;

		for (uint32_t c = 0; c < m->channel_count && g->users > 0; c++)
			more = more || ((g->mask >> c & 1) && m->channels[c].made);
		for (int level = MAPS_PRIORITIES; more && level-- > 0;)
			more = add_pending_list(m, &g->lists[level]);
		more = more && add_pending_list(m, &g->parked);
	}
}

/* The MAP that is being laid out. */
struct layout {
	struct model_channel *c;
	struct map *out;
	int64_t at; /* next free minislot, from the MAP's first */
	int pinned; /* index of the next pinned item */
	uint64_t belated; /* pinned items that began after `until` */
};

static void add_element(struct layout *p, uint32_t sid, uint32_t iuc) {
	p->out->elements[p->out->count++] =
		(struct map_element){(uint16_t)sid, (uint16_t)p->at, (uint8_t)iuc};
}

/* Gives the minislots up to `until` to requests; SID 0 if they are too few for one. */
static void add_request_region(struct layout *p, int64_t until) {
	if (until == p->at)
		return;
	add_element(p, until - p->at >= p->c->unit ? MAP_SID_BROADCAST : MAPS_SID_UNUSED,
		    MAP_REQUEST);
	p->at = until;
}

static void add_item(struct layout *p, const struct model_item *item) {
	const struct maps_channel *s = &p->c->set;
	bool is_short = s->short_iuc != 0 && item->minislots <= s->short_minislots;

	add_element(p, item->sid,
		    item->kind == MODEL_STATION ? MAP_STATION
		    : item->kind == MODEL_POLL	? MAP_REQUEST
		    : is_short			? s->short_iuc
						: s->data_iuc);
	p->at += item->minislots;
}

static void add_pinned(struct layout *p, const struct model_item *item) {
	p->belated += p->at > item->until;
	add_item(p, item);
	p->pinned++;
}

static const struct model_item *next_pinned(const struct layout *p) {
	return p->pinned < p->c->pinned_count ? &p->c->pinned[p->pinned] : NULL;
}

/* Adds the guaranteed request region. Pinned grants inside it do not count as its minislots, nor do minislots before
 * one that are too few for a request. */
static void add_region(struct layout *p, int64_t minislots) {
	const struct model_item *item;

	while ((item = next_pinned(p)) != NULL && item->from < p->at + minislots) {
		int64_t before = item->from > p->at ? item->from - p->at : 0;

		add_request_region(p, p->at + before);
		minislots -= before / p->c->unit * p->c->unit;
		add_pinned(p, item);
	}
	add_request_region(p, p->at + minislots);
}

static void add_data(struct layout *p, struct model_item item) {
	const struct model_item *other;

	while ((other = next_pinned(p)) != NULL) {
		int64_t end = p->at + model_minislots(p->c, 128);

		end = end > other->from ? end : other->from;
		if (other->from <= p->at) {
			add_pinned(p, other);
		} else if (p->at + item.minislots <= other->until) {
			break;
		} else if (end <= other->until) {
			struct model_item first = item;

			first.minislots = (uint32_t)(end - p->at);
			first.bytes = (first.minislots - p->c->set.burst_minislots) *
					      p->c->set.minislot_bytes -
				      item.header;
			item.bytes -= first.bytes;
			item.minislots = model_minislots(p->c, item.bytes + item.header);
			add_item(p, &first);
		} else {
			add_request_region(p, other->from);
		}
	}
	add_item(p, &item);
}

/* Latest end of the guaranteed region, for an answer in the next possible MAP. The MAP's end if it would not fit. */
static int64_t requests_end(const struct model_channel *c) {
	uint64_t after =
		(uint64_t)c->length * (1 + c->set.ack_delay / c->length) - c->set.ack_delay;
	uint64_t minislot = after / c->set.frame * c->set.frame_minislots;

	return minislot < c->requests ? c->minislots : (int64_t)minislot;
}

static void write_head(struct model *m, struct model_channel *c, struct map *out) {
	uint64_t frames = c->number * c->frames;
	uint64_t early = (c->set.ack_delay + c->set.frame - 1) / c->set.frame;

	if (frames >= early)
		c->acked = m->start + (frames - early) * c->set.frame;
	*out = (struct map){
		.version = c->set.kind == MAPS_OFDMA ? 5 : 1,
		.channel = c->set.id,
		.ucd_count = c->set.ucd_count,
		.ranging_start = c->set.ranging_start,
		.ranging_end = c->set.ranging_end,
		.data_start = c->set.data_start,
		.data_end = c->set.data_end,
		.alloc_start = (uint32_t)(c->number * c->minislots),
		.ack_time = (uint32_t)((frames - early) * c->set.frame_minislots),
	};
	for (; out->data_start < out->data_end && 1u << out->data_start < c->contenders / 8;
	     out->data_start++)
		;
}

void model_write(struct model *m, struct model_channel *c, struct map *out) {
	struct layout p = {.c = c, .out = out};
	int64_t requests = c->requests, end = c->minislots;

	write_head(m, c, out);
	for (int i = c->pinned_count; i-- > 0;) {
		end -= c->pinned[i].minislots;
		c->pinned[i].from = c->pinned[i].from < end ? c->pinned[i].from : end;
	}
	if (c->initial > 0)
		add_element(&p, MAP_SID_BROADCAST, MAP_INITIAL);
	p.at = c->initial;
	for (int i = 0; i < c->front_count; i++)
		add_item(&p, &c->front[i]);
	for (int i = 0; i < c->data_count; i++) {
		if (requests > 0 && p.at + c->data[i].minislots + requests > requests_end(c)) {
			add_region(&p, requests);
			requests = 0;
		}
		add_data(&p, c->data[i]);
	}
	while (next_pinned(&p) != NULL) {
		if (next_pinned(&p)->from > p.at)
			add_request_region(&p, next_pinned(&p)->from);
		add_pinned(&p, next_pinned(&p));
	}
	m->belated += p.belated;
	add_request_region(&p, c->minislots);
	p.at = c->minislots;
	add_element(&p, 0, MAP_NULL);
	for (int i = 0; i < c->pending_count; i++)
		add_element(&p, c->pending[i], c->set.data_iuc);
}
