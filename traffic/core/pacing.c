/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing: earns credit over time and limits the packets of a round. */
#include "core/pacing.h"

#include <stddef.h>

#define BURST (PACING_BURST_US * 1e-6)
#define LONG_BURST (PACING_LONG_BURST_US * 1e-6)
#define CATCH_UP (PACING_CATCH_UP_US * 1e-6)

static double larger(double a, double b) {
	return a > b ? a : b;
}

static double smaller(double a, double b) {
	return a < b ? a : b;
}

void pacing_start(struct pacing *p, uint64_t rate, uint64_t tsc_hz, double mean, uint64_t now) {
	*p = (struct pacing){.rate = rate, .tsc_hz = tsc_hz, .packet = mean * 8};
	pacing_restart(p, now);
}

void pacing_shape(struct pacing *p, const struct shape *shape, uint64_t now) {
	shape_walk_start(&p->walk, shape);
	pacing_restart(p, now);
}

void pacing_restart(struct pacing *p, uint64_t now) {
	shape_walk_start(&p->walk, p->walk.shape);
	p->last = now;
	p->longest_gap = p->second_gap = p->second_before = 0;
	p->gaps_since = now;
	p->credit = 0;
	p->behind = 0;
	p->forgone = 0;
	p->due = 0;
	p->seconds = 0;
}

static uint64_t elapsed(struct pacing *p, uint64_t now) {
	/* After a migration, the TSC of the new core may be behind: time then does not go back. */
	uint64_t gap = now > p->last ? now - p->last : 0;

	p->last += gap;
	if (gap > p->tsc_hz / 1000000 * PACING_DESCHEDULED_US) {
		p->descheduled++;
		if (gap > p->longest)
			p->longest = gap;
	}
	return gap;
}

void pacing_idle(struct pacing *p, uint64_t now) {
	elapsed(p, now);
}

/* Longest burst in seconds: as long as a round of the loop lasts, but a single long pause does not
 * count. */
static double burst_seconds(struct pacing *p, uint64_t gap) {
	uint64_t second;

	if (p->last - p->gaps_since > p->tsc_hz / 1000000 * PACING_ROUNDS_US) {
		p->second_before = p->second_gap;
		p->longest_gap = p->second_gap = 0;
		p->gaps_since = p->last;
	}
	if (gap > p->longest_gap) {
		p->second_gap = p->longest_gap;
		p->longest_gap = gap;
	} else if (gap > p->second_gap) {
		p->second_gap = gap;
	}
	second = p->second_gap > p->second_before ? p->second_gap : p->second_before;
	return smaller(larger((double)second / (double)p->tsc_hz, BURST), LONG_BURST);
}

/* Distributes the bits due for `gap` cycles among the accounts. */
static void earn(struct pacing *p, uint64_t gap) {
	double seconds = (double)gap / (double)p->tsc_hz;
	double rate = (double)p->rate;
	double bits = rate * shape_walk_advance(&p->walk, seconds);
	/* The larger of the gap's mean rate and the current rate: after a step down, credit from before the
	 * step may still be sent. */
	double pace = larger(bits / seconds, rate * shape_walk_share(&p->walk));
	double max = larger(pace * burst_seconds(p, gap), p->packet);
	double available = larger(max - p->credit, 0);
	double credited = smaller(bits, available);
	double made_up =
		smaller(smaller(p->behind, bits * PACING_CATCH_UP_SHARE), available - credited);
	double kept = larger(rate * CATCH_UP, p->packet);

	p->seconds += seconds;
	p->due += bits;
	p->credit += credited + made_up;
	p->behind += bits - credited - made_up;
	if (p->behind > kept) {
		p->forgone += p->behind - kept;
		p->behind = kept;
	}
}

unsigned pacing_round(struct pacing *p, uint64_t now, unsigned burst) {
	uint64_t gap = elapsed(p, now);
	double packets;

	if (p->rate == 0)
		return burst;
	if (gap > 0)
		earn(p, gap);
	if (p->credit <= 0)
		return 0;
	packets = p->credit / p->packet + 1;
	return packets < burst ? (unsigned)packets : burst;
}

double pacing_rate(const struct pacing *p) {
	return (double)p->rate * shape_walk_share(&p->walk);
}

double pacing_configured(const struct pacing *p) {
	return p->walk.shape == NULL || p->seconds <= 0 ? (double)p->rate : p->due / p->seconds;
}

double pacing_longest_us(const struct pacing *p) {
	return (double)p->longest * 1e6 / (double)p->tsc_hz;
}
