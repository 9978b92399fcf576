/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paces packets: credit in bits grows with the TSC, and packets spend it. Credit may become negative by one
 * packet, so that the mean rate is exact for any sizes.
 *
 * Bursts are small: credit is at most what the rate sends in 50 us, or one packet. If rounds of the loop
 * take longer, the limit is the duration of a round, up to 250 us, as the rate could not be kept otherwise.
 * The second longest round of the last 10 to 20 ms counts, because a single pause says nothing about the
 * loop. Bits that a pause has delayed go to another account, which is paid out slowly: the rate is an
 * eighth higher until the account is empty.
 *
 *     time passes --> bits due --> credit (50..250 us) --> packets
 *                            \---> behind (1 ms) --> credit, an eighth of what is due
 *                             \--> forgone
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/shape.h"

/* The largest rate that can be paced and configured, in bits per second. */
#define PACING_RATE_MAX 1000000000000
/* Limit of a burst: the bits that the rate sends in this time, and a packet. */
#define PACING_BURST_US 50
/* The same limit for loops whose rounds take that long. */
#define PACING_LONG_BURST_US 250
/* Limit of the bits made up for after a pause: what the rate sends in this time, or one packet. The
 * same time for every rate keeps the ratio of two rates on one thread. */
#define PACING_CATCH_UP_US 1000
/* For how long the duration of rounds is remembered. */
#define PACING_ROUNDS_US 10000
/* Share of the rate by which delayed bits are sent faster. */
#define PACING_CATCH_UP_SHARE 0.125
/* A round longer than this counts as descheduled. */
#define PACING_DESCHEDULED_US 1000

struct pacing {
	uint64_t rate; /* bits per second; 0: as fast as the port accepts packets */
	uint64_t tsc_hz;
	uint64_t last; /* TSC of the last round */
	/* The longest rounds of this period and the second longest of the previous one, in cycles. */
	uint64_t longest_gap, second_gap, second_before;
	uint64_t gaps_since; /* TSC at which the period began */
	struct shape_walk walk;
	/* In bits. Doubles do not overflow from one packet per minute to 1 Tbps, and rounding loses less
	 * than a millionth. */
	double credit;
	double behind; /* delayed, to be made up for */
	double forgone; /* due, but not made up for */
	double due; /* since the start: = spent + credit + behind + forgone */
	double packet; /* bits of the mean packet */
	double seconds; /* since the start */
	uint64_t descheduled; /* rounds longer than PACING_DESCHEDULED_US */
	uint64_t longest; /* the longest of these, TSC cycles */
};

/* Starts with no credit at TSC `now`. `rate` counts bits of Ethernet frames without CRC, at most
 * PACING_RATE_MAX; `mean` is the mean packet size in bytes. */
void pacing_start(struct pacing *p, uint64_t rate, uint64_t tsc_hz, double mean, uint64_t now);

/* Makes the rate follow `shape` from its start at TSC `now`; NULL is a constant rate. `shape` must
 * outlive `p`. Has no effect if the rate is 0 (max). */
void pacing_shape(struct pacing *p, const struct shape *shape, uint64_t now);

/* Restarts at TSC `now` with no credit and at the shape's start; keeps `descheduled` and `longest`. */
void pacing_restart(struct pacing *p, uint64_t now);

/* Begins a round at TSC `now`. Returns how many packets may be sent, at most `burst`. */
unsigned pacing_round(struct pacing *p, uint64_t now, unsigned burst);

/* Counts a round in which nothing is sent, for the statistics of long rounds only. */
void pacing_idle(struct pacing *p, uint64_t now);

/* Spends credit for `bytes` that are about to be sent. */
static inline void pacing_spend(struct pacing *p, uint64_t bytes) {
	p->credit -= (double)bytes * 8;
}

/* The current rate in bits per second; 0 also for max. */
double pacing_rate(const struct pacing *p);

/* The mean configured rate since the start, in bits per second; 0: max. */
double pacing_configured(const struct pacing *p);

/* The longest descheduled round; 0: none. */
double pacing_longest_us(const struct pacing *p);
