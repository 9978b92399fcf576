/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the model: clock, buckets, channels with DEPI, clusters, queues, changes. */
#include "scheduler_model.h"

#include <string.h>

static model_work work_min(model_work a, model_work b) {
	return a < b ? a : b;
}

static model_work work_max(model_work a, model_work b) {
	return a > b ? a : b;
}

model_work model_level(const struct model_bucket *b, uint64_t t) {
	return work_min(b->cap, b->level + (model_work)b->rate * (t - b->since));
}

model_work model_ahead(const struct model_line *l, uint64_t t) {
	return work_max(0, l->work - (model_work)l->rate * (t - l->since));
}

/* 0 once the line has been idle for the time of its tolerance: the scheduler's value is exact again. */
static model_work line_tolerance(const struct model_line *l, uint64_t t) {
	return (model_work)l->rate * (t - l->since) >= l->work + l->tolerance ? 0 : l->tolerance;
}

uint64_t model_tolerance(const struct model_line *l, uint64_t t) {
	return l->rate == 0 ? 0 : (uint64_t)(line_tolerance(l, t) / l->rate);
}

/* 0 once the bucket has been full for the time of its tolerance: the scheduler's value is exact again. */
static model_work bucket_tolerance(const struct model_bucket *b, uint64_t t) {
	return b->level + (model_work)b->rate * (t - b->since) >= b->cap + b->tolerance
		       ? 0
		       : b->tolerance;
}

static void bucket_charge(struct model_bucket *b, uint64_t now, uint32_t bytes) {
	if (b->rate == 0)
		return;
	b->tolerance = bucket_tolerance(b, now) + MODEL_TICK(b->rate);
	b->level = model_level(b, now) - MODEL_BYTE * bytes;
	b->since = now;
}

/* The debt of a modem's bucket is at most one burst. */
static void aggregate_charge(struct model_bucket *b, uint64_t now, uint32_t bytes) {
	bucket_charge(b, now, bytes);
	b->level = work_max(b->level, -b->cap);
}

/* Service beyond the reserved rate counts against a flow for 10 ms at most. */
static void meter_charge(struct model_bucket *b, uint64_t now, uint32_t bytes) {
	if (model_level(b, now) < -b->cap) {
		b->level = -b->cap;
		b->since = now;
	}
	bucket_charge(b, now, bytes);
}

static void line_charge(struct model_line *l, uint64_t now, uint32_t bytes) {
	if (l->rate == 0)
		return;
	l->tolerance = line_tolerance(l, now) + MODEL_TICK(l->rate);
	l->work = model_ahead(l, now) + MODEL_BYTE * bytes;
	l->since = now;
}

/* Sets a bucket to `level`, at most `cap`. The tolerance of its former level stays. */
static void bucket_keep(const struct model *m, struct model_bucket *b, uint64_t rate,
			model_work cap, model_work level) {
	model_work tolerance = b->rate == 0 ? 0 : bucket_tolerance(b, m->now) + MODEL_TICK(rate);

	*b = (struct model_bucket){rate, cap, work_min(cap, level), tolerance, m->now, m->now};
}

/* A bucket keeps its bytes, up to its new burst. A new one is full. */
static void bucket_set(const struct model *m, struct model_bucket *b, uint64_t rate,
		       model_work cap) {
	bucket_keep(m, b, rate, cap, b->rate == 0 ? cap : model_level(b, m->now));
}

/* A meter of a reserved rate keeps its bytes, within 10 ms ahead or behind. A new one is neither. */
static void meter_set(const struct model *m, struct model_bucket *b, uint64_t rate) {
	model_work cap = (model_work)rate * MODEL_METER_NS;

	bucket_keep(m, b, rate, cap, b->rate == 0 ? 0 : model_level(b, m->now));
}

static void flow_set(struct model *m, struct model_flow *f, const struct scheduler_flow *settings) {
	model_work burst = MODEL_BYTE * settings->sustained.burst;
	model_work peak = work_max(MODEL_BYTE * SCHEDULER_PEAK_BURST,
				   (model_work)settings->peak * SCHEDULER_PEAK_NS);

	if (f->set.group == SCHEDULER_NONE) { /* another flow inherits nothing */
		f->sustained.rate = f->peak.rate = f->reserved.rate = 0;
		f->packets = f->bytes = f->last_sent = f->last_tolerance = 0;
		f->sequence = m->first_number;
	}
	f->set = *settings;
	bucket_set(m, &f->sustained, settings->sustained.rate, burst);
	bucket_set(m, &f->peak, settings->peak, peak);
	meter_set(m, &f->reserved, settings->reserved);
}

void model_init(struct model *m, const struct scheduler_config *config) {
	memset(m, 0, sizeof(*m));
	m->channel_count = config->channel_count;
	m->group_count = config->group_count;
	m->modem_count = config->modem_count;
	m->flow_count = config->flow_count;
	m->packet_limit = config->packet_limit;
	m->first_number = config->first_number;
	m->limit.rate = config->rate_limit;
	for (uint32_t i = 0; i < m->channel_count; i++)
		model_set_channel(m, i, &config->channels[i]);
	for (uint32_t i = 0; i < m->group_count; i++)
		model_set_group(m, i, &config->groups[i]);
	for (uint32_t i = 0; i < m->modem_count; i++)
		model_set_modem(m, i, &config->modems[i]);
	for (uint32_t i = 0; i < m->flow_count; i++)
		flow_set(m, &m->flows[i], &config->flows[i]);
	for (uint32_t i = 0; i < m->flow_count; i++)
		m->flows[i].sequence = m->first_number;
}

static void bucket_begin(struct model_bucket *b, uint64_t now) {
	b->since = now;
	/* more than LOCKSTEP_SLOP_NS ago, so that the lockstep checks from the start */
	b->changed = now - SCHEDULER_LEAD_NS;
}

/* Nothing has happened before the first time. */
static void start_clock(struct model *m, uint64_t now) {
	for (size_t i = 0; i < m->modem_count; i++)
		bucket_begin(&m->modems[i], now);
	for (size_t i = 0; i < m->flow_count; i++) {
		bucket_begin(&m->flows[i].sustained, now);
		bucket_begin(&m->flows[i].peak, now);
		bucket_begin(&m->flows[i].reserved, now);
		m->flows[i].last_sent = now;
	}
	for (size_t i = 0; i < m->channel_count; i++)
		m->channels[i].line.since = now;
	m->limit.since = now;
	m->started = true;
	m->now = now;
}

void model_clock(struct model *m, uint64_t now) {
	if (!m->started)
		start_clock(m, now);
	now -= m->skipped;
	if ((int64_t)(now - m->now) <= 0)
		return;
	if (now - m->now > MODEL_LONGEST_JUMP) {
		m->skipped += now - m->now - MODEL_LONGEST_JUMP;
		now = m->now + MODEL_LONGEST_JUMP;
	}
	m->now = now;
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
	bool in[MODEL_GROUPS] = {false}, more = true;

	if (m->limit.rate > 0) /* all share it */
		return true;
	in[a] = true;
	while (more && !in[b]) {
		more = false;
		for (size_t i = 0; i < m->group_count; i++) {
			for (size_t k = 0; k < m->group_count && !in[i]; k++) {
				in[i] = in[k] && share_channel(&m->groups[i], &m->groups[k]);
				more |= in[i];
			}
		}
	}
	return in[b];
}

uint32_t model_depi_bytes(struct model_depi *d, const struct scheduler_depi *settings,
			  uint32_t bytes, uint64_t now) {
	uint32_t left = bytes, cost = bytes;

	if (settings->capacity == 0)
		return bytes;
	if (d->open && now - d->begun >= settings->flush_ns)
		d->open = false;
	while (left > 0) {
		uint32_t part;

		if (!d->open) {
			*d = (struct model_depi){true, settings->capacity, 0, now};
			cost += settings->frame_bytes;
		}
		part = d->space - settings->entry_bytes;
		if (part >= left) {
			part = left;
		} else if (part < settings->min_fragment) {
			d->open = false;
			continue;
		}
		left -= part;
		cost += settings->entry_bytes;
		d->space -= part + settings->entry_bytes;
		d->segments++;
		if (d->segments == settings->max_segments || d->space <= settings->entry_bytes)
			d->open = false;
	}
	return cost;
}

uint32_t model_queued(const struct model *m) {
	uint32_t queued = 0;

	for (size_t f = 0; f < m->flow_count; f++)
		queued += m->flows[f].count;
	return queued;
}

uint64_t model_queued_bytes(const struct model *m, uint32_t flow) {
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
	uint64_t queued = model_queued(m), buffer = f->set.buffer;

	if (f->set.group == SCHEDULER_NONE || f->set.modem == SCHEDULER_NONE)
		return SCHEDULER_NO_FLOW;
	if (in->bytes == 0 || in->bytes > SCHEDULER_PACKET_MAX ||
	    too_long(&f->sustained, in->bytes) || too_long(&f->peak, in->bytes) ||
	    too_long(&m->modems[f->set.modem], in->bytes))
		return SCHEDULER_TOO_LONG;
	if (queued >= m->packet_limit)
		return SCHEDULER_FULL;
	if (2 * queued < m->packet_limit)
		buffer = f->set.max_buffer;
	else if (8 * queued >= 7 * (uint64_t)m->packet_limit)
		buffer = f->set.min_buffer;
	if (model_queued_bytes(m, in->flow) + in->bytes > buffer)
		return SCHEDULER_FLOW_FULL;
	return SCHEDULER_QUEUED;
}

void model_enqueue(struct model *m, const struct scheduler_arrival *in) {
	struct model_flow *f = &m->flows[in->flow];

	if (f->count == 0) { /* an idle flow saves nothing */
		f->reserved.level = work_min(0, model_level(&f->reserved, m->now));
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

/* A modem receives a packet at `sent` (ns). The packet then waits for lower sequence numbers that are sent later. */
static void measure_skew(struct model_group *g, struct model_flow *f, uint64_t sent,
			 uint64_t tolerance) {
	int64_t wait = (int64_t)(f->last_sent - sent), within;

	within = (int64_t)(tolerance + f->last_tolerance);
	g->ties += wait >= -within && wait <= within;
	g->tolerance += (uint64_t)within;
	if ((uint64_t)within > g->max_tolerance)
		g->max_tolerance = (uint64_t)within;
	if (wait < -within || (wait <= within && tolerance > f->last_tolerance))
		f->last_tolerance = tolerance;
	if (wait <= 0) {
		f->last_sent = sent;
		return;
	}
	g->early++;
	g->skew_ns += (uint64_t)wait;
	if ((uint64_t)wait > g->max_skew_ns)
		g->max_skew_ns = (uint64_t)wait;
}

void model_dequeue(struct model *m, uint32_t flow, uint32_t channel) {
	struct model_flow *f = &m->flows[flow];
	struct model_channel *c = &m->channels[channel];
	struct model_group *g = &m->groups[f->set.group];
	struct model_packet p = f->list[0];
	uint32_t cost =
		model_depi_bytes(&c->depi, &c->set.depi, p.bytes + f->set.header_bytes, m->now);
	uint32_t metered = p.bytes > f->set.reserved_packet ? p.bytes : f->set.reserved_packet;

	f->sequence++;
	bucket_charge(&f->sustained, m->now, p.bytes);
	bucket_charge(&f->peak, m->now, p.bytes);
	meter_charge(&f->reserved, m->now, metered);
	aggregate_charge(&m->modems[f->set.modem], m->now, p.bytes);
	line_charge(&c->line, m->now, cost);
	line_charge(&m->limit, m->now, cost);
	if (g->count > 1)
		measure_skew(g, f, m->now + (uint64_t)(c->line.work / c->line.rate),
			     1 + model_tolerance(&c->line, m->now));
	c->packets++;
	c->bytes += cost;
	g->packets++;
	f->packets++;
	f->bytes += p.bytes;
	m->delayed_packets[f->set.priority]++;
	m->delay_ns[f->set.priority] += (m->now - p.at) % MODEL_DELAY_WRAP;
	model_remove(m, flow, p.packet);
}

void model_charge(struct model *m, uint32_t channel, uint32_t bytes) {
	struct model_channel *c = &m->channels[channel];

	bytes += c->set.depi.capacity > 0 ? c->set.depi.frame_bytes + c->set.depi.entry_bytes : 0;
	line_charge(&c->line, m->now, bytes);
	c->bytes += bytes;
}

void model_set_flow(struct model *m, uint32_t flow, const struct scheduler_flow *settings) {
	struct model_flow *f = &m->flows[flow];

	/* other flows of its modem may have waited for its first packet, and may now be served */
	if (f->count > 0)
		m->modems[f->set.modem].changed = m->now;
	flow_set(m, f, settings);
}

void model_set_modem(struct model *m, uint32_t modem, const struct scheduler_modem *c) {
	bucket_set(m, &m->modems[modem], c->aggregate.rate, MODEL_BYTE * c->aggregate.burst);
	m->modems[modem].level = work_max(m->modems[modem].level, -m->modems[modem].cap);
}

void model_set_group(struct model *m, uint32_t group, const struct scheduler_group *g) {
	m->groups[group].count = g->channel_count;
	for (size_t i = 0; i < g->channel_count; i++)
		m->groups[group].list[i] = g->channels[i];
}

/* The work stays but takes another time. Without a rate there is none. */
static void line_set(struct model *m, struct model_line *l, uint64_t rate) {
	bool none = l->rate == 0 || rate == 0;

	l->tolerance = none ? 0 : line_tolerance(l, m->now) + MODEL_TICK(rate);
	l->work = none ? 0 : model_ahead(l, m->now);
	l->rate = rate;
	l->since = m->now;
}

void model_set_channel(struct model *m, uint32_t channel,
		       const struct scheduler_channel *settings) {
	struct model_channel *c = &m->channels[channel];

	c->depi.open = false;
	c->set = *settings;
	line_set(m, &c->line, settings->rate);
}

void model_set_rate_limit(struct model *m, uint64_t rate) {
	line_set(m, &m->limit, rate);
}
