/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DOCSIS time in samples of 204.8 MHz; the 10.24 MHz clock of timestamps counts one per 20 (MULPI
 * 3.1, 6.4.3).
 *
 * With Remote PHY, core and R-PHY device follow PTP, as does the system's clock here. DOCSIS time
 * is that of the system, since 1970. Between two readings, the worker's clock (pipeline/clock.h)
 * advances it. Its rate is learned, as DPDK rounds the TSC frequency by up to 0.2 %. A replay has
 * its own time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DOCSIS_CLOCK_SAMPLE_NS 100000000 /* between two readings of the system's clock */
#define DOCSIS_CLOCK_JUMP_NS 1000000 /* a larger difference is a jump and applies at once */
#define DOCSIS_CLOCK_SLEW 10000 /* smaller ones are corrected at 1 part in 10,000: 100 ppm */

struct clock;

struct docsis_clock {
	uint64_t from, system; /* ns: DOCSIS time was `system` at the worker's time `from` */
	int64_t gain_q32; /* correction in ns per ns of the worker, 32 fractional bits */
	/* readings of both clocks from which the rate is learned */
	uint64_t learned_from, learned_system;
	uint64_t sample_at; /* the worker's ns of the next reading; UINT64_MAX: never */
	uint64_t jumps;
};

/* DOCSIS time is that of the worker, from 0 on, until docsis_clock_start(). */
void docsis_clock_init(struct docsis_clock *c);

/* Sets DOCSIS time to the system's clock, and follows that from now on. */
void docsis_clock_start(struct docsis_clock *c, const struct clock *worker);

/*
 * Reads the system's clock; call it if docsis_clock_sample_is_due(). The vDSO needs no system call.
 * worker->now may be old, as the worker's time is read from the TSC. Returns whether time has
 * jumped, forward or back.
 */
bool docsis_clock_sample(struct docsis_clock *c, const struct clock *worker);

/* As docsis_clock_sample(), with the system's time `system` (ns since 1970) at the worker's `now`.
 * No effect unless `now` is after `learned_from`. */
bool docsis_clock_follow(struct docsis_clock *c, uint64_t now, uint64_t system);

static inline bool docsis_clock_sample_is_due(const struct docsis_clock *c, uint64_t now) {
	return now >= c->sample_at;
}

/* docsis_clock_time() converts the worker's `now` to DOCSIS samples, rounded down.
 * docsis_clock_when() converts back, rounded up; 0 if that was before the worker's clock began. */
uint64_t docsis_clock_time(const struct docsis_clock *c, uint64_t now);
uint64_t docsis_clock_when(const struct docsis_clock *c, uint64_t samples);
