/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When to send: a credit in bits that fills with the TSC and that packets use up. It may become
 * negative by a packet, so that the rate is exact in the mean whatever the sizes.
 *
 * Bursts are small: the credit never holds more than the rate sends in 50 us, or one packet. Where rounds
 * of the loop take longer, it holds what a round lasts, up to 250 us, as the rate could not be kept
 * otherwise: the longest but one of the last 10 to 20 ms counts, for a pause alone is none of the loop's.
 * What a pause has cost goes to another account, which is paid out slowly: the rate is an eighth higher
 * until it is empty.
 *
 *     time passes --> bits due --> credit (50..250 us) --> packets
 *                            \---> behind (1 ms) --> credit, an eighth of what is due
 *                             \--> forgone
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/shape.h"

/* Bits per second, the largest that is paced and may be asked for. */
#define PACING_RATE_MAX 1000000000000
/* What may go at once: what the rate sends in this time, and a packet. */
#define PACING_BURST_US 50
/* The same, where rounds are so long. */
#define PACING_LONG_BURST_US 250
/* What is made up for at most after the thread was not run: what the rate sends in this time, or a
 * packet. The same time at every rate keeps the ratio of two rates on one thread. */
#define PACING_CATCH_UP_US 1000
/* How long is remembered how long rounds are. */
#define PACING_ROUNDS_US 10000
/* How much faster than the rate that is made up for. */
#define PACING_CATCH_UP_SHARE 0.125
/* A round of the loop that took longer than this counts as descheduled. */
#define PACING_DESCHEDULED_US 1000

struct pacing {
	uint64_t rate; /* bits per second; 0 = as fast as the port takes it */
	uint64_t tsc_hz;
	uint64_t last; /* TSC of the last round */
	/* The longest rounds of this time and of the one before, in cycles. */
	uint64_t longest_gap, second_gap, second_before;
	uint64_t gaps_since; /* TSC */
	struct shape_walk walk;
	/* In bits. Doubles: from a packet a minute to 1 Tbps nothing overflows, and what rounding costs
	 * is below a millionth. */
	double credit;
	double behind; /* to be made up for */
	double forgone; /* due, and not to be made up for */
	double due; /* since the start: = spent + credit + behind + forgone */
	double packet; /* of the mean size */
	double seconds; /* since the start */
	uint64_t descheduled; /* rounds */
	uint64_t longest; /* TSC cycles */
};

/*
 * Starts with no credit at TSC `now`. `rate` counts the bits of Ethernet frames without their CRC,
 * at most PACING_RATE_MAX; `mean` is the bytes of the mean packet.
 */
void pacing_start(struct pacing *p, uint64_t rate, uint64_t tsc_hz, double mean, uint64_t now);

/*
 * Makes the rate follow `shape`, which must live on, from its start at TSC `now`; NULL is a constant
 * rate. Without effect where the rate is 0 (max).
 */
void pacing_shape(struct pacing *p, const struct shape *shape, uint64_t now);

/* Begins anew at TSC `now`, with no credit and at the shape's start; what was counted is kept. */
void pacing_restart(struct pacing *p, uint64_t now);

/* One round of the loop at TSC `now`: how many packets may go, at most `burst`. */
unsigned pacing_round(struct pacing *p, uint64_t now, unsigned burst);

/* A round in which nothing is sent, for the count of long rounds only. */
void pacing_idle(struct pacing *p, uint64_t now);

/* Uses up credit for `bytes` that were made ready to send. */
static inline void pacing_spend(struct pacing *p, uint64_t bytes) {
	p->credit -= (double)bytes * 8;
}

/* The rate of this moment, bits per second; 0 also for max. */
double pacing_rate(const struct pacing *p);

/* The mean rate asked for since the start, bits per second; 0 = max. */
double pacing_asked(const struct pacing *p);

double pacing_longest_us(const struct pacing *p);
