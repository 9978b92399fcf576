/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's MAPs: who is told to wait, and what stands where. */
#include "maps_model.h"

static bool tell(struct model *m, int flow, uint32_t cluster) {
	struct model_flow *f = &m->flows[flow];
	int best = -1;

	for (uint32_t i = 0; i < m->channel_count; i++) {
		if (!(f->masks[cluster] >> i & 1) || !m->channels[i].made ||
		    m->channels[i].slots == 0)
			continue;
		if (best < 0 || i == f->heard)
			best = (int)i;
	}
	if (best < 0)
		return false;
	m->channels[best].pending[m->channels[best].pending_count++] = f->sids[cluster][best];
	m->channels[best].slots--;
	return true;
}

static bool tell_list(struct model *m, const struct model_list *l) {
	for (int i = l->count; i-- > 0;) {
		const struct model_flow *f = &m->flows[l->flows[i]];
		bool told = tell(m, l->flows[i], f->cluster);

		for (uint32_t c = 0; c < f->set.cluster_count; c++)
			if (c != f->cluster && f->owed[c] > 0)
				tell(m, l->flows[i], c);
		if (!told)
			return false;
	}
	return true;
}

void model_pending(struct model *m) {
	for (int i = 0; i < MODEL_SETS; i++) {
		bool more = false;

		for (uint32_t c = 0; c < m->channel_count; c++)
			more = more || (m->sets[i].users > 0 && (m->sets[i].mask >> c & 1) &&
					m->channels[c].made);
		for (int level = MAPS_PRIORITIES; more && level-- > 0;)
			more = tell_list(m, &m->sets[i].lists[level]);
		if (more)
			tell_list(m, &m->sets[i].held);
	}
}

struct pen {
	struct model_channel *c;
	struct map *out;
	int64_t at;
	int pinned;
	uint64_t belated;
};

static void element(struct pen *p, uint32_t sid, uint32_t iuc) {
	p->out->elements[p->out->count++] =
		(struct map_element){(uint16_t)sid, (uint16_t)p->at, (uint8_t)iuc};
}

static void idle(struct pen *p, int64_t until) {
	if (until == p->at)
		return;
	element(p, until - p->at >= p->c->unit ? MAP_SID_BROADCAST : MAPS_SID_NOBODY, MAP_REQUEST);
	p->at = until;
}

static void item(struct pen *p, const struct model_item *it) {
	const struct maps_channel *s = &p->c->set;
	bool brief = s->short_iuc != 0 && it->minislots <= s->short_minislots;

	element(p, it->sid,
		it->kind == MODEL_STATION ? MAP_STATION
		: it->kind == MODEL_POLL  ? MAP_REQUEST
		: brief			  ? s->short_iuc
					  : s->data_iuc);
	p->at += it->minislots;
}

static void pinned_item(struct pen *p, const struct model_item *it) {
	p->belated += p->at > it->until;
	item(p, it);
	p->pinned++;
}

static const struct model_item *next_pinned(const struct pen *p) {
	return p->pinned < p->c->pinned_count ? &p->c->pinned[p->pinned] : NULL;
}

/* All of the pinned ones that begin before the region would end stand in it; what is too little for a request before
 * one is lost. */
static void region(struct pen *p, int64_t minislots) {
	const struct model_item *it;

	while ((it = next_pinned(p)) != NULL && it->from < p->at + minislots) {
		int64_t before = it->from > p->at ? it->from - p->at : 0;

		idle(p, p->at + before);
		minislots -= before / p->c->unit * p->c->unit;
		pinned_item(p, it);
	}
	idle(p, p->at + minislots);
}

static void data(struct pen *p, struct model_item it) {
	const struct model_item *other;

	while ((other = next_pinned(p)) != NULL) {
		int64_t end = p->at + model_minislots(p->c, 128);

		end = end > other->from ? end : other->from;
		if (other->from <= p->at) {
			pinned_item(p, other);
		} else if (p->at + it.minislots <= other->until) {
			break;
		} else if (end <= other->until) {
			struct model_item first = it;

			first.minislots = (uint32_t)(end - p->at);
			first.bytes = (first.minislots - p->c->set.burst_minislots) *
					      p->c->set.minislot_bytes -
				      it.header;
			it.bytes -= first.bytes;
			it.minislots = model_minislots(p->c, it.bytes + it.header);
			item(p, &first);
		} else {
			idle(p, other->from);
		}
	}
	item(p, &it);
}

/* Where the guaranteed region is to end at the latest. */
static int64_t requests_end(const struct model_channel *c) {
	uint64_t after =
		(uint64_t)c->length * (1 + c->set.ack_delay / c->length) - c->set.ack_delay;
	uint64_t minislot = after / c->set.frame * c->set.frame_minislots;

	return minislot < c->requests ? c->minislots : (int64_t)minislot;
}

static void head(struct model *m, struct model_channel *c, struct map *out) {
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
	struct pen p = {.c = c, .out = out};
	int64_t requests = c->requests, end = c->minislots;

	head(m, c, out);
	for (int i = c->pinned_count; i-- > 0;) {
		end -= c->pinned[i].minislots;
		c->pinned[i].from = c->pinned[i].from < end ? c->pinned[i].from : end;
	}
	if (c->initial > 0)
		element(&p, MAP_SID_BROADCAST, MAP_INITIAL);
	p.at = c->initial;
	for (int i = 0; i < c->front_count; i++)
		item(&p, &c->front[i]);
	for (int i = 0; i < c->data_count; i++) {
		if (requests > 0 && p.at + c->data[i].minislots + requests > requests_end(c)) {
			region(&p, requests);
			requests = 0;
		}
		data(&p, c->data[i]);
	}
	while (next_pinned(&p) != NULL) {
		if (next_pinned(&p)->from > p.at)
			idle(&p, next_pinned(&p)->from);
		pinned_item(&p, next_pinned(&p));
	}
	m->belated += p.belated;
	idle(&p, c->minislots);
	p.at = c->minislots;
	element(&p, 0, MAP_NULL);
	for (int i = 0; i < c->pending_count; i++)
		element(&p, c->pending[i], c->set.data_iuc);
}
