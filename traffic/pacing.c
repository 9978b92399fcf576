/* SPDX-License-Identifier: BSD-3-Clause */
/* The credit: what fills it and what it allows. */
#include "pacing.h"

void pacing_start(struct pacing *p, uint64_t rate, uint64_t tsc_hz, double mean, uint32_t largest,
		  uint64_t now) {
	uint64_t catch_up = tsc_hz * PACING_CATCH_UP_US / 1000000;
	uint64_t limit = rate * catch_up;
	uint64_t one = (uint64_t)largest * 8 * tsc_hz;

	*p = (struct pacing){.rate = rate, .tsc_hz = tsc_hz, .last = now};
	/* A slow rate must still be able to gather the credit of its largest packet. */
	p->limit = (int64_t)(limit > one ? limit : one);
	p->packet_cost = (uint64_t)(mean * 8 * (double)tsc_hz);
}

static uint64_t elapsed(struct pacing *p, uint64_t now) {
	/* TSCs of two cores may differ by a little after a migration. */
	uint64_t gap = now > p->last ? now - p->last : 0;

	p->last = now;
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

unsigned pacing_round(struct pacing *p, uint64_t now, unsigned burst) {
	uint64_t gap = elapsed(p, now);
	uint64_t packets;

	if (p->rate == 0)
		return burst;
	if (p->credit < p->limit) {
		uint64_t room = (uint64_t)(p->limit - p->credit);

		p->credit = gap > room / p->rate ? p->limit : p->credit + (int64_t)(gap * p->rate);
	}
	if (p->credit <= 0)
		return 0;
	packets = (uint64_t)p->credit / p->packet_cost + 1;
	return packets < burst ? (unsigned)packets : burst;
}

double pacing_longest_us(const struct pacing *p) {
	return (double)p->longest * 1e6 / (double)p->tsc_hz;
}
