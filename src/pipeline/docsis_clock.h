/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DOCSIS time: samples of 204.8 MHz, of which the 10.24 MHz clock of timestamps counts one in 20 (MULPI 3.1, 6.4.3).
 * With Remote PHY, core and R-PHY device follow PTP, and so does the system's clock here: DOCSIS time is that, from
 * 1970 on. Between two looks at it, a worker's clock (pipeline/clock.h) goes on, whose rate is learnt: DPDK rounds
 * that of the TSC, by up to two thousandths. A replay has time of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DOCSIS_CLOCK_LOOK_NS 100000000 /* between two looks at the system's clock */
#define DOCSIS_CLOCK_JUMP_NS 1000000 /* a larger difference is a jump, and taken over at once */
#define DOCSIS_CLOCK_SLEW 10000 /* smaller ones are made good by 1 part in so many: 100 ppm */

struct clock;

struct docsis_clock {
	uint64_t from, system; /* DOCSIS time, ns, was `system` at the worker's `from` */
	int64_t gain_q32; /* ns more for each of the worker's, 32 fractional bits */
	uint64_t begun_from, begun_system; /* two clocks at once, by which the rate is learnt */
	uint64_t look_at; /* the worker's ns of the next look; UINT64_MAX: never */
	uint64_t jumps;
};

/* DOCSIS time is the worker's, from 0 on, until it follows the system's. */
void docsis_clock_init(struct docsis_clock *c);

/* Follows the system's clock from now on, which is read with the worker's. */
void docsis_clock_start(struct docsis_clock *c, const struct clock *worker);

/* To be called when docsis_clock_must_look(): system calls that are none (vDSO). How old the worker's round is does not
 * matter. Returns whether time has jumped: forward or back. */
bool docsis_clock_look(struct docsis_clock *c, const struct clock *worker);

/* The same with the system's time given, ns since 1970, at the worker's `now`. */
bool docsis_clock_follow(struct docsis_clock *c, uint64_t now, uint64_t system);

static inline bool docsis_clock_must_look(const struct docsis_clock *c, uint64_t now) {
	return now >= c->look_at;
}

/* DOCSIS time in samples at the worker's `now`, rounded down; and when by the worker's clock it is `samples`, rounded up:
 * 0 where that is over since before it began. */
uint64_t docsis_clock_time(const struct docsis_clock *c, uint64_t now);
uint64_t docsis_clock_when(const struct docsis_clock *c, uint64_t samples);
