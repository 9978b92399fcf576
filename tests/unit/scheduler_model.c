/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model knows: clock, buckets, channels, queues, and changes of them. */
#include "scheduler_model.h"

#include <string.h>

static model_work least(model_work a, model_work b) {
	return a < b ? a : b;
}

static model_work most(model_work a, model_work b) {
	return a > b ? a : b;
}

model_work model_level(const struct model_bucket *b, uint64_t t) {
	return least(b->cap, b->level + (model_work)b->rate * (t - b->since));
}

model_work model_ahead(const struct model_line *l, uint64_t t) {
	return most(0, l->work - (model_work)l->rate * (t - l->since));
}

static void bucket_charge(struct model_bucket *b, uint64_t now, uint32_t bytes) {
	if (b->rate == 0)
		return;
	b->level = model_level(b, now) - MODEL_BYTE * bytes;
	b->since = now;
}

static void line_charge(struct model_line *l, uint64_t now, uint32_t bytes) {
	if (l->rate == 0)
		return;
	l->work = model_ahead(l, now);
	if (l->work == 0)
		l->packets = 0;
	l->packets++;
	l->work += MODEL_BYTE * bytes;
	l->since = now;
}

/* A bucket keeps what it held when last something went, up to its new burst; one that is new is full. */
static void bucket_set(const struct model *m, struct model_bucket *b, uint64_t rate,
		       model_work cap) {
	model_work level = b->rate == 0 ? cap : model_level(b, m->served);

	*b = (struct model_bucket){rate, cap, least(cap, level), m->served, m->now};
}

/* A meter of a minimum reserved rate is one of time and saves up to 10 ms; one that is new is even. */
static void meter_set(const struct model *m, struct model_bucket *b, uint64_t rate) {
	model_work cap = (model_work)rate * 10000000;
	model_work level = b->rate == 0 ? 0 : model_level(b, m->now) * rate / b->rate;

	*b = (struct model_bucket){rate, cap, least(cap, level), m->now, m->now};
}

static void flow_set(struct model *m, struct model_flow *f, const struct scheduler_flow *is) {
	model_work burst = MODEL_BYTE * is->sustained.burst;
	model_work peak =
		most(MODEL_BYTE * SCHEDULER_PEAK_BURST, (model_work)is->peak * SCHEDULER_PEAK_NS);

	f->is = *is;
	bucket_set(m, &f->sustained, is->sustained.rate, burst);
	bucket_set(m, &f->peak, is->peak, peak);
	meter_set(m, &f->reserved, is->reserved);
}

void model_init(struct model *m, const struct scheduler_config *config) {
	memset(m, 0, sizeof(*m));
	m->channel_count = config->channel_count;
	m->group_count = config->group_count;
	m->modem_count = config->modem_count;
	m->flow_count = config->flow_count;
	m->packet_limit = config->packet_limit;
	m->limit.rate = config->rate_limit;
	for (uint32_t i = 0; i < m->channel_count; i++)
		model_set_channel(m, i, &config->channels[i]);
	for (uint32_t i = 0; i < m->group_count; i++)
		model_set_group(m, i, &config->groups[i]);
	for (uint32_t i = 0; i < m->modem_count; i++)
		model_set_modem(m, i, &config->modems[i]);
	for (uint32_t i = 0; i < m->flow_count; i++)
		flow_set(m, &m->flows[i], &config->flows[i]);
	for (size_t g = 0; g < MODEL_GROUPS; g++) {
		for (size_t p = 0; p < MODEL_COLUMNS; p++)
			m->groups[g].columns[p].modem = -1;
		for (size_t p = 0; p < SCHEDULER_PRIORITIES; p++) {
			for (size_t k = 0; k < MODEL_MODEMS; k++)
				m->classes[g][p][k].flow = -1;
		}
	}
}

static void bucket_begin(struct model_bucket *b, uint64_t now) {
	b->since = now;
	b->changed = now - SCHEDULER_LEAD_NS; /* long ago */
}

static void line_begin(struct model_line *l, uint64_t now) {
	l->since = now;
	l->changed = now - SCHEDULER_LEAD_NS; /* long ago */
}

/* Nothing has happened before the first time seen. */
static void begin(struct model *m, uint64_t now) {
	for (size_t i = 0; i < m->modem_count; i++)
		bucket_begin(&m->modems[i], now);
	for (size_t i = 0; i < m->flow_count; i++) {
		bucket_begin(&m->flows[i].sustained, now);
		bucket_begin(&m->flows[i].peak, now);
		bucket_begin(&m->flows[i].reserved, now);
		m->flows[i].last_sent = now;
	}
	for (size_t i = 0; i < m->channel_count; i++)
		line_begin(&m->channels[i].line, now);
	line_begin(&m->limit, now);
	m->started = true;
	m->now = m->served = now;
}

void model_clock(struct model *m, uint64_t now) {
	if (!m->started)
		begin(m, now);
	else if ((int64_t)(now - m->now) > 0)
		m->now = now;
}

void model_serve(struct model *m, uint64_t now) {
	model_clock(m, now);
	m->served = m->now;
}

uint32_t model_held(const struct model *m) {
	uint32_t held = 0;

	for (size_t f = 0; f < m->flow_count; f++)
		held += m->flows[f].count;
	return held;
}

uint64_t model_waiting_bytes(const struct model *m, uint32_t flow) {
	const struct model_flow *f = &m->flows[flow];
	uint64_t bytes = 0;

	for (unsigned i = 0; i < f->count; i++)
		bytes += f->list[i].bytes;
	return bytes;
}

static bool too_long(const struct model_bucket *b, uint32_t bytes) {
	return b->rate > 0 && MODEL_BYTE * bytes > b->cap;
}

enum scheduler_verdict model_verdict(const struct model *m, const struct scheduler_arrival *in) {
	const struct model_flow *f = &m->flows[in->flow];
	uint64_t held = model_held(m), buffer = f->is.buffer;

	if (f->is.group == SCHEDULER_NONE || f->is.modem == SCHEDULER_NONE)
		return SCHEDULER_NO_FLOW;
	if (in->bytes > SCHEDULER_PACKET_MAX || too_long(&f->sustained, in->bytes) ||
	    too_long(&f->peak, in->bytes) || too_long(&m->modems[f->is.modem], in->bytes))
		return SCHEDULER_TOO_LONG;
	if (held >= m->packet_limit)
		return SCHEDULER_FULL;
	if (2 * held < m->packet_limit)
		buffer = f->is.max_buffer;
	else if (8 * held >= 7 * (uint64_t)m->packet_limit)
		buffer = f->is.min_buffer;
	if (model_waiting_bytes(m, in->flow) + in->bytes > buffer)
		return SCHEDULER_FLOW_FULL;
	return SCHEDULER_QUEUED;
}

void model_queue(struct model *m, const struct scheduler_arrival *in) {
	struct model_flow *f = &m->flows[in->flow];

	if (f->count == 0) { /* an idle flow saved nothing up */
		f->reserved.level = least(0, model_level(&f->reserved, m->now));
		f->reserved.since = m->now;
	}
	f->list[f->count++] = (struct model_packet){in->packet, in->bytes, m->now};
}

bool model_remove(struct model *m, uint32_t flow, const void *packet) {
	struct model_flow *f = &m->flows[flow];

	if (f->count == 0 || f->list[0].packet != packet)
		return false;
	memmove(f->list, f->list + 1, --f->count * sizeof(f->list[0]));
	return true;
}

static bool share_channel(const struct model_group *a, const struct model_group *b) {
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			if (a->list[i] == b->list[k])
				return true;
		}
	}
	return false;
}

bool model_same_cluster(const struct model *m, uint32_t a, uint32_t b) {
	bool in[MODEL_GROUPS] = {false};

	if (m->limit.rate > 0) /* which all share */
		return true;
	in[a] = true;
	for (size_t again = 0; again < m->group_count; again++) {
		for (size_t i = 0; i < m->group_count; i++) {
			for (size_t k = 0; k < m->group_count; k++)
				in[i] |= in[k] && share_channel(&m->groups[i], &m->groups[k]);
		}
	}
	return in[b];
}

uint32_t model_depi_bytes(struct model_depi *d, const struct scheduler_depi *is, uint32_t bytes,
			  uint64_t now) {
	uint32_t left = bytes, cost = bytes;

	if (is->room == 0)
		return bytes;
	if (d->open && now - d->begun >= is->flush_ns)
		d->open = false;
	while (left > 0) {
		uint32_t take;

		if (!d->open) {
			*d = (struct model_depi){true, is->room, 0, now};
			cost += is->frame_bytes;
		}
		take = d->space - is->entry_bytes;
		if (take >= left) {
			take = left;
		} else if (take < is->min_fragment) {
			d->open = false;
			continue;
		}
		left -= take;
		cost += is->entry_bytes;
		d->space -= take + is->entry_bytes;
		d->segments++;
		if (d->segments == is->max_segments || d->space <= is->entry_bytes)
			d->open = false;
	}
	return cost;
}

/* A receiver has the packet when it was sent; if one of lower number comes later, it waits. */
static void measure_skew(struct model_group *g, struct model_flow *f, uint64_t sent) {
	int64_t wait = (int64_t)(f->last_sent - sent);

	g->ties += wait > -16 && wait < 16;
	if (wait <= 0) {
		f->last_sent = sent;
		return;
	}
	g->early++;
	g->skew_ns += (uint64_t)wait;
	if ((uint64_t)wait > g->max_skew_ns)
		g->max_skew_ns = (uint64_t)wait;
}

void model_take(struct model *m, uint32_t flow, uint32_t channel, struct scheduler_grant *out) {
	struct model_flow *f = &m->flows[flow];
	struct model_channel *c = &m->channels[channel];
	struct model_group *g = &m->groups[f->is.group];
	struct model_packet p = f->list[0];
	uint32_t cost =
		model_depi_bytes(&c->depi, &c->is.depi, p.bytes + f->is.header_bytes, m->now);
	uint32_t metered = p.bytes > f->is.reserved_packet ? p.bytes : f->is.reserved_packet;

	*out = (struct scheduler_grant){p.packet, flow, (uint16_t)channel, f->sequence++};
	bucket_charge(&f->sustained, m->now, p.bytes);
	bucket_charge(&f->peak, m->now, p.bytes);
	bucket_charge(&f->reserved, m->now, metered);
	bucket_charge(&m->modems[f->is.modem], m->now, p.bytes);
	line_charge(&c->line, m->now, cost);
	line_charge(&m->limit, m->now, cost);
	if (g->count > 1)
		measure_skew(g, f, m->now + (uint64_t)(c->line.work / c->line.rate));
	c->packets++;
	c->bytes += cost;
	g->packets++;
	f->packets++;
	f->bytes += p.bytes;
	m->delays[f->is.priority]++;
	m->delay_ns[f->is.priority] += m->now - p.at;
	model_remove(m, flow, p.packet);
}

void model_set_flow(struct model *m, uint32_t flow, const struct scheduler_flow *is) {
	struct model_flow *f = &m->flows[flow];

	if (is->group != f->is.group)
		f->last_sent = m->now;
	flow_set(m, f, is);
}

void model_set_modem(struct model *m, uint32_t modem, const struct scheduler_modem *c) {
	bucket_set(m, &m->modems[modem], c->aggregate.rate, MODEL_BYTE * c->aggregate.burst);
}

void model_set_group(struct model *m, uint32_t group, const struct scheduler_group *g) {
	m->groups[group].count = g->channel_count;
	for (size_t i = 0; i < g->channel_count; i++)
		m->groups[group].list[i] = g->channels[i];
}

/* The time until which it has work stays; the work is then that of the new rate. */
static void line_set(const struct model *m, struct model_line *l, uint64_t rate) {
	if (l->rate > 0)
		l->work = model_ahead(l, m->served) * rate / l->rate;
	l->rate = rate;
	l->since = m->served;
	l->changed = m->now;
}

void model_set_channel(struct model *m, uint32_t channel, const struct scheduler_channel *is) {
	struct model_channel *c = &m->channels[channel];

	if (memcmp(&c->is.depi, &is->depi, sizeof(is->depi)) != 0)
		c->depi.open = false;
	c->is = *is;
	line_set(m, &c->line, is->rate);
}

void model_set_rate_limit(struct model *m, uint64_t rate) {
	line_set(m, &m->limit, rate);
}
