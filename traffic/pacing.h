/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When to send: a credit in bits that fills with the TSC and that packets use up. It may become
 * negative by a packet, so that the rate is exact in the mean whatever the sizes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What is made up for at most after the thread was not run: what the rate sends in this time. */
#define PACING_CATCH_UP_US 1000
/* A round of the loop that took longer than this counts as descheduled. */
#define PACING_DESCHEDULED_US 1000

struct pacing {
	uint64_t rate; /* bits per second; 0 = as fast as the port takes it */
	uint64_t tsc_hz;
	uint64_t last; /* TSC of the last round */
	int64_t credit; /* bits times tsc_hz, so that nothing is ever divided or rounded */
	int64_t limit;
	uint64_t packet_cost; /* of the mean packet, in the units of the credit */
	uint64_t descheduled; /* rounds */
	uint64_t longest; /* TSC cycles */
};

/*
 * Starts with no credit at TSC `now`. `rate` counts the bits of Ethernet frames without their CRC,
 * at most 10^12; `mean` and `largest` are the packets' bytes.
 */
void pacing_start(struct pacing *p, uint64_t rate, uint64_t tsc_hz, double mean, uint32_t largest,
		  uint64_t now);

/* Begins anew at TSC `now`, with no credit; what was counted before is kept. */
static inline void pacing_restart(struct pacing *p, uint64_t now) {
	p->last = now;
	p->credit = 0;
}

/* One round of the loop at TSC `now`: how many packets may go, at most `burst`. */
unsigned pacing_round(struct pacing *p, uint64_t now, unsigned burst);

/* A round in which nothing is sent, for the count of long rounds only. */
void pacing_idle(struct pacing *p, uint64_t now);

/* Uses up credit for `bytes` that were made ready to send. */
static inline void pacing_spend(struct pacing *p, uint64_t bytes) {
	p->credit -= (int64_t)(bytes * 8 * p->tsc_hz);
}

double pacing_longest_us(const struct pacing *p);
