/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/grants_times.h"

#define NS_PER_FRACTION 625 /* 128 samples in ns */
#define SAMPLES_PER_FRACTION 128
#define OFDMA_STATION_MINISLOTS 16
#define SC_QAM_STATION_NS 200000 /* ns of a ranging burst, by default */
/* default limit of ns for initial maintenance, including the round trip */
#define SC_QAM_INITIAL_NS 500000
#define SC_QAM_REQUEST_NS 200000
#define OFDMA_REQUEST_FRAMES 2 /* default time for decoding, after the frame with the request */

uint64_t grants_samples(uint64_t ns) {
	return ns / NS_PER_FRACTION * SAMPLES_PER_FRACTION +
	       ns % NS_PER_FRACTION * SAMPLES_PER_FRACTION / NS_PER_FRACTION;
}

uint64_t grants_ns(uint64_t samples) {
	uint64_t rest = samples % SAMPLES_PER_FRACTION * NS_PER_FRACTION;

	return samples / SAMPLES_PER_FRACTION * NS_PER_FRACTION +
	       (rest + SAMPLES_PER_FRACTION - 1) / SAMPLES_PER_FRACTION;
}

static uint16_t bounded(uint64_t value) {
	return (uint16_t)(value < 1 ? 1 : value > UINT16_MAX ? UINT16_MAX : value);
}

/* Samples of an OFDMA symbol with its cyclic prefix (PHY 3.1, 7.4.1). */
static uint32_t symbol_of(const struct upstream_physical *p) {
	return (uint32_t)(GRANTS_HZ / (1000u * p->subcarrier_spacing) + 2u * p->cyclic_prefix);
}

/* Data bytes per minislot: from the file, else by the bits per symbol or subcarrier, else by the
 * rate. */
static uint16_t minislot_bytes(const struct upstream_channel *c, const struct grants_times *t) {
	const struct upstream_physical *p = &c->grants.physical;
	uint64_t bits = 0;

	if (p->minislot_bytes != 0)
		return p->minislot_bytes;
	if (c->type == UPSTREAM_SC_QAM)
		bits = (uint64_t)p->symbol_rate * 1000 * t->frame * p->modulation / GRANTS_HZ;
	else if (p->bits != 0)
		bits = UINT64_C(400) / p->subcarrier_spacing * p->frame_symbols * p->bits;
	if (bits == 0)
		bits = c->rate / 1000 * t->frame / (GRANTS_HZ / 1000) / t->frame_minislots;
	return bounded(bits / 8);
}

/*
 * Adds the delays in the order in which a MAP meets them: on the way to the modem, and in the modem
 * (MULPI 3.1, 7.2.1.6). The R-PHY device defines the time of minislots, so the farthest modem
 * transmits a whole round trip early.
 */
static uint64_t lead_ns(const struct grants_config *g) {
	return g->cmts_processing + g->transport + g->interleaver + g->round_trip +
	       g->modem_processing;
}

static void delays(const struct grants_config *g, const struct upstream_channel *c,
		   struct grants_times *t) {
	uint64_t lead = grants_samples(lead_ns(g)), request = grants_samples(g->request_processing);

	if (c->type == UPSTREAM_OFDMA) {
		lead += t->frame + symbol_of(&c->grants.physical);
		request += t->frame + (request == 0 ? OFDMA_REQUEST_FRAMES * t->frame : 0);
	} else {
		request += request == 0 ? grants_samples(SC_QAM_REQUEST_NS) : 0;
		request += (uint64_t)c->grants.contention.request_minislots * t->frame;
	}
	t->lead = (uint32_t)lead;
	t->ack_delay = (uint32_t)(lead + request + grants_samples(g->transport));
}

static uint16_t minislots_of(uint64_t ns, uint32_t frame) {
	return bounded((grants_samples(ns) + frame - 1) / frame);
}

/* The default for initial maintenance. If a MAP covers a single OFDMA frame, half of its minislots
 * stay free for other grants. */
static uint16_t initial_minislots(const struct grants_config *g, const struct upstream_channel *c,
				  const struct grants_times *t) {
	uint64_t ns = SC_QAM_STATION_NS + g->round_trip;

	if (c->type == UPSTREAM_SC_QAM)
		return minislots_of(ns < SC_QAM_INITIAL_NS ? ns : SC_QAM_INITIAL_NS, t->frame);
	return t->frame_minislots < t->minislots ? t->frame_minislots : bounded(t->minislots / 2);
}

static void maintenance(const struct grants_config *g, const struct upstream_channel *c,
			struct grants_times *t) {
	const struct upstream_maintenance *m = &c->grants.maintenance;
	bool ofdma = c->type == UPSTREAM_OFDMA;
	uint16_t station = t->frame_minislots < OFDMA_STATION_MINISLOTS ? t->frame_minislots
									: OFDMA_STATION_MINISLOTS;

	t->initial_minislots =
		m->initial_minislots != 0 ? m->initial_minislots : initial_minislots(g, c, t);
	t->station_minislots = m->station_minislots != 0 ? m->station_minislots
			       : ofdma ? station
				       : minislots_of(SC_QAM_STATION_NS, t->frame);
}

struct grants_times grants_times_of(const struct grants_config *g,
				    const struct upstream_channel *c) {
	const struct upstream_physical *p = &c->grants.physical;
	struct grants_times t = {.frame_minislots = 1};
	uint64_t frames;

	if (c->type == UPSTREAM_OFDMA) {
		t.frame = symbol_of(p) * p->frame_symbols;
		t.frame_minislots = p->frame_minislots;
	} else {
		t.frame = (uint32_t)p->minislot_ticks * GRANTS_TICK;
	}
	t.minislot_bytes = minislot_bytes(c, &t);
	frames = (grants_samples(g->map_interval) + t.frame / 2) / t.frame;
	frames = frames > 0 ? frames : 1;
	t.interval = (uint32_t)(frames * t.frame);
	t.minislots = (uint32_t)(frames * t.frame_minislots);
	delays(g, c, &t);
	maintenance(g, c, &t);
	return t;
}

uint64_t grants_ahead(const struct service_group *sg) {
	uint64_t max = 0;

	for (size_t i = 0; i < sg->upstream_channel_count; i++) {
		const struct upstream_channel *c = &sg->upstream_channels[i];
		struct grants_times t;

		if (c->session == 0) /* a free slot */
			continue;
		t = grants_times_of(&sg->upstream.scheduler, c);
		if ((uint64_t)t.interval + t.ack_delay > max)
			max = (uint64_t)t.interval + t.ack_delay;
	}
	return grants_ns(max);
}

uint32_t grants_map_session(const struct upstream_channel *c) {
	return c->grants.map_session != 0 ? c->grants.map_session : GRANTS_MAP_SESSION + c->id;
}

uint32_t grants_map_channel(const struct service_group *sg, const struct upstream_channel *c,
			    size_t i) {
	if (c->grants.map_channel_count > 0)
		return i < c->grants.map_channel_count ? c->grants.map_channels[i] : 0;
	return i == 0 && sg->channel_count > 0 ? sg->channels[0].id : 0;
}
