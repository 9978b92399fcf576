/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/docsis_clock.h"

#include <time.h>

#include <rte_cycles.h>

#include "model/grants_times.h"
#include "pipeline/clock.h"

#define TOGETHER_US 20 /* a reading of the system's clock that takes longer is repeated */
#define TRIES 20
#define LEARNT_NS 120000000000 /* after which a new measurement of the rate begins */
#define STEEPEST 0.01 /* maximum learned rate difference; larger ones: the clock was set */
#define Q32 4294967296.0

void docsis_clock_init(struct docsis_clock *c) {
	*c = (struct docsis_clock){.sample_at = UINT64_MAX};
}

/* Reads the system's time and the worker's time of the same moment. */
static uint64_t system_now(const struct clock *worker, uint64_t *now) {
	uint64_t before, after, max = rte_get_tsc_hz() / 1000000 * TOGETHER_US;
	unsigned __int128 ticks;
	struct timespec t;
	unsigned tries = TRIES;

	do {
		before = rte_rdtsc();
		clock_gettime(CLOCK_REALTIME, &t);
		after = rte_rdtsc();
	} while (after - before > max && --tries > 0);
	ticks = before + (after - before) / 2 - worker->base_tsc;
	*now = (uint64_t)((ticks * worker->ns_per_tick_q32) >> 32);
	return (uint64_t)t.tv_sec * CLOCK_NS_PER_S + (uint64_t)t.tv_nsec;
}

static void begin(struct docsis_clock *c, uint64_t now, uint64_t system) {
	c->from = c->learned_from = now;
	c->system = c->learned_system = system;
	c->sample_at = now + DOCSIS_CLOCK_SAMPLE_NS;
}

void docsis_clock_start(struct docsis_clock *c, const struct clock *worker) {
	uint64_t now, system = system_now(worker, &now);

	c->gain_q32 = 0;
	begin(c, now, system);
}

bool docsis_clock_sample(struct docsis_clock *c, const struct clock *worker) {
	uint64_t now, system = system_now(worker, &now);

	return docsis_clock_follow(c, now, system);
}

/* The clock's time, in ns, at the monotonic time `now`. */
static uint64_t shown(const struct docsis_clock *c, uint64_t now) {
	int64_t since = (int64_t)(now - c->from);

	return c->system + (uint64_t)(since + (int64_t)(((__int128)since * c->gain_q32) >> 32));
}

static double within(double value, double max) {
	return value > max ? max : value < -max ? -max : value;
}

/* Sets the rate to the learned one, plus a correction of the present difference within a second, of
 * at most 1 / DOCSIS_CLOCK_SLEW. */
static void steer(struct docsis_clock *c, uint64_t now, uint64_t system, int64_t behind) {
	double since = (double)(now - c->learned_from);
	double gain =
		(double)(int64_t)(system - c->learned_system - (now - c->learned_from)) / since;

	gain = within(gain, STEEPEST) +
	       within((double)behind / CLOCK_NS_PER_S, 1.0 / DOCSIS_CLOCK_SLEW);
	c->gain_q32 = (int64_t)(gain * Q32);
	if (since < (double)LEARNT_NS)
		return;
	c->learned_from = now;
	c->learned_system = system;
}

bool docsis_clock_follow(struct docsis_clock *c, uint64_t now, uint64_t system) {
	uint64_t time = shown(c, now);
	int64_t behind = (int64_t)(system - time);

	if (now <= c->learned_from)
		return false;
	if (behind > DOCSIS_CLOCK_JUMP_NS || behind < -DOCSIS_CLOCK_JUMP_NS) {
		begin(c, now, system);
		c->jumps++;
		return true;
	}
	steer(c, now, system, behind);
	c->from = now;
	c->system = time;
	c->sample_at = now + DOCSIS_CLOCK_SAMPLE_NS;
	return false;
}

uint64_t docsis_clock_time(const struct docsis_clock *c, uint64_t now) {
	return grants_samples(shown(c, now));
}

uint64_t docsis_clock_when(const struct docsis_clock *c, uint64_t samples) {
	int64_t ahead = (int64_t)(grants_ns(samples) - c->system);
	double gain = 1.0 + (double)c->gain_q32 / Q32;
	int64_t at = (int64_t)c->from + (int64_t)((double)ahead / gain);

	if (c->gain_q32 == 0)
		at = (int64_t)c->from + ahead;
	else
		at += 1; /* rounded up, so that a round is not too early */
	return at > 0 ? (uint64_t)at : 0;
}
