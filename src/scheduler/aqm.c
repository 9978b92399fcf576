/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/aqm.h"

#include <math.h>

#include "scheduler/ticks.h"

/* WRED: the average of an idle queue decays as if packets of this size passed through it. */
#define IDLE_PACKET 1000
#define IDLE_RATE 1000000000 /* bits per second, for flows without a sustained rate */

/* DOCSIS-PIE: RFC 8034, appendix A.1.2; sizes in bytes, delays in seconds. */
#define PIE_A 0.25
#define PIE_B 2.5
#define PIE_INTERVAL 0.016
#define PIE_INTERVAL_TICKS NS_TICKS(16000000)
#define PIE_BURST_RESET NS_TICKS(1000000000)
#define PIE_MAX_BURST NS_TICKS(142000000)
#define PIE_MEAN_PACKET 1024
#define PIE_MIN_PACKET 64
#define PIE_PROBABILITY_LOW 0.85
#define PIE_PROBABILITY_HIGH 8.5
#define PIE_DELAY_LOW 0.005
#define PIE_DELAY_HIGH 0.2
#define PIE_MAX_STEPS 1024 /* limit of the intervals that an update makes up for */

/* xorshift64*. 53 bits of it give a number from 0 to below 1. */
static double random_unit(uint64_t *state) {
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (double)(x * 0x2545f4914f6cdd1d >> 11) * 0x1p-53;
}

static double ticks_seconds(int64_t ticks) {
	return (double)ticks / NS_TICKS(1000000000);
}

static void wred_set(struct wred_state *w, const struct scheduler_flow *f) {
	const struct scheduler_wred *set = &f->wred;
	uint64_t rate = f->sustained.rate != 0 ? f->sustained.rate : IDLE_RATE;

	w->min_threshold = set->min_threshold;
	w->max_threshold = set->max_threshold;
	w->slope = set->max_probability / 65536.0 / (set->max_threshold - set->min_threshold);
	w->part = ldexp(1, -set->weight);
	w->idle_ticks = (double)cost_ticks(byte_cost(rate), IDLE_PACKET);
}

void aqm_set(struct aqm_state *a, const struct scheduler_flow *f, bool reset, int64_t now) {
	if (f->aqm == SCHEDULER_WRED) {
		if (reset)
			a->wred = (struct wred_state){.empty_since = now};
		wred_set(&a->wred, f);
	} else if (f->aqm == SCHEDULER_DOCSIS_PIE) {
		if (reset)
			a->pie = (struct pie_state){.updated = now};
		a->pie.target = (double)f->latency_target * 1e-9;
		a->pie.buffer = f->buffer;
	}
}

bool wred_drops(struct wred_state *w, const struct aqm_queue *q, int64_t now, uint64_t *random) {
	double probability;

	if (q->bytes == 0 && w->average > 0) {
		w->average *= pow(1 - w->part, (double)(now - w->empty_since) / w->idle_ticks);
		w->empty_since = now;
	}
	w->average += (q->bytes - w->average) * w->part;
	if (w->average < w->min_threshold) {
		w->since_drop = 0;
		return false;
	}
	probability = (w->average - w->min_threshold) * w->slope;
	if (w->average < w->max_threshold &&
	    random_unit(random) * (1 - w->since_drop * probability) >= probability) {
		w->since_drop++;
		return false;
	}
	w->since_drop = 0;
	return true;
}

/* RFC 8034: the lower the probability, the smaller the steps by which it changes. */
static double pie_step(double step, double probability) {
	static const struct {
		double below, factor;
	} scales[] = {
		{0.000001, 1.0 / 2048},
		{0.00001, 1.0 / 512},
		{0.0001, 1.0 / 128},
		{0.001, 1.0 / 32},
		{0.01, 1.0 / 8},
		{0.1, 1.0 / 2},
		{1, 2},
		{10, 8},
	};

	for (unsigned i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		if (probability < scales[i].below)
			return step * scales[i].factor;
	}
	return step * 32;
}

static void pie_probability(struct pie_state *p, double delay) {
	const double max = PIE_PROBABILITY_LOW * PIE_MEAN_PACKET / PIE_MIN_PACKET;
	double step = PIE_A * (delay - p->target) + PIE_B * (delay - p->old_delay);

	step = pie_step(step, p->probability);
	if (p->probability >= 0.1 && step > 0.02)
		step = 0.02;
	p->probability += step;
	if (delay < PIE_DELAY_LOW && p->old_delay < PIE_DELAY_LOW)
		p->probability *= 0.98;
	else if (delay > PIE_DELAY_HIGH)
		p->probability += 0.02;
	p->probability = fmin(fmax(p->probability, 0), max);
}

/* One update; due every 16 ms. */
static void pie_update(struct pie_state *p, double delay) {
	bool quiet;

	if (p->burst_allowance > 0) {
		p->probability = 0;
		p->burst_allowance -= PIE_INTERVAL_TICKS;
	} else {
		pie_probability(p, delay);
	}
	quiet = delay < p->target / 2 && p->old_delay < p->target / 2 && p->probability == 0 &&
		p->burst_allowance <= 0;
	if (p->state == PIE_ACTIVE && quiet) {
		p->state = PIE_QUIESCENT;
		p->quiet = 0;
	} else if (p->state == PIE_QUIESCENT) {
		p->quiet = quiet ? p->quiet + PIE_INTERVAL_TICKS : 0;
		if (p->quiet > PIE_BURST_RESET)
			p->state = PIE_INACTIVE;
	}
	p->old_delay = delay;
}

/* Whether further updates would change nothing. */
static bool pie_is_quiescent(const struct pie_state *p, const struct aqm_queue *q) {
	return q->head_age == 0 && p->state == PIE_INACTIVE && p->probability == 0 &&
	       p->old_delay == 0 && p->burst_allowance <= 0;
}

/* Runs all updates that are due. The queue was empty at all but the latest, or has not changed
 * since. */
static void pie_catch_up(struct pie_state *p, const struct aqm_queue *q, int64_t now) {
	int64_t due = (now - p->updated) / PIE_INTERVAL_TICKS;

	p->updated += due * PIE_INTERVAL_TICKS;
	due = due < PIE_MAX_STEPS ? due : PIE_MAX_STEPS;
	while (due-- > 0 && !pie_is_quiescent(p, q)) {
		int64_t age = q->head_age - (now - p->updated) - due * PIE_INTERVAL_TICKS;

		pie_update(p, age > 0 ? ticks_seconds(age) : 0);
	}
}

static bool pie_draws(struct pie_state *p, const struct aqm_queue *q, uint32_t packet,
		      uint64_t *random) {
	double probability = fmin(p->probability * packet / PIE_MEAN_PACKET, PIE_PROBABILITY_LOW);

	if (p->probability == 0)
		p->accumulated = 0;
	if (p->burst_allowance > 0)
		return false;
	p->accumulated += probability;
	if ((p->old_delay < p->target / 2 && p->probability < 0.2) ||
	    q->bytes <= 2 * PIE_MEAN_PACKET || p->accumulated < PIE_PROBABILITY_LOW)
		return false;
	return p->accumulated >= PIE_PROBABILITY_HIGH || random_unit(random) < probability;
}

bool pie_drops(struct pie_state *p, const struct aqm_queue *q, uint32_t packet, int64_t now,
	       uint64_t *random) {
	if (now - p->updated >= PIE_INTERVAL_TICKS)
		pie_catch_up(p, q, now);
	if (p->state == PIE_INACTIVE) {
		if (q->bytes < p->buffer / 3)
			return false;
		p->state = PIE_QUIESCENT;
		p->quiet = 0;
	}
	if (!pie_draws(p, q, packet, random))
		return false;
	p->accumulated = 0;
	if (p->state == PIE_QUIESCENT) {
		p->state = PIE_ACTIVE;
		p->burst_allowance = PIE_MAX_BURST;
	}
	return true;
}
