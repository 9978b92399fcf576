/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a worker does in rounds in which nothing comes: it polls on for a while, then pauses, and longer the longer
 * nothing comes. A pause never makes anything late: it ends when the first thing is due. Time is the caller's: ns of its
 * worker's clock, or of a test's own. What waits is in instructions.h; the sleep of the system is in sleep.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/server_config.h"

#define IDLE_FIRST_NS UINT64_C(1000) /* the first pauses, as published */

/* Sleep of the system, where nothing came for longer than pauses last: its own lengths, ns. */
#define IDLE_SLEEP_NS UINT64_C(100000) /* at most, where packets may come and nobody wakes */
#define IDLE_SLEEP_LATER_NS UINT64_C(4000000) /* the same, once nothing came for so long: */
#define IDLE_SLEEP_LATER_AFTER_NS UINT64_C(1000000000)
#define IDLE_SLEEP_WOKEN_NS UINT64_C(10000000) /* at most, where all that comes wakes */
#define IDLE_SLEEP_EARLY_NS UINT64_C(60000) /* before what is due: the system may be so late */

/* Whether this CPU has what it takes; IDLE_AUTO is nothing that it has. */
bool idle_there(enum idle_kind kind);

/* The best that this CPU has: for a core of its own, or for one that is shared. */
enum idle_kind idle_best(bool shared);

/* How to pause. */
struct idle_config {
	enum idle_kind kind; /* one of those below IDLE_KINDS */
	uint32_t
		empty_rounds; /* in a row before the first pause, and before each that is longer; 0 is as 1 */
	uint64_t longest; /* ns */
	uint64_t tsc_hz;
};

/* A worker's, and nobody else writes it; others may read the counters. */
struct idle {
	struct idle_config config;
	uint64_t ticks_per_ns_q32; /* fixed point, 32 fractional bits */
	uint64_t busy_rounds; /* of the worker, when it was empty last */
	uint64_t since; /* ns: from when on nothing came */
	uint32_t empty; /* rounds since then, up to the next longer pause */
	uint64_t length; /* of the next pause, ns; 0: polls on */
	uint64_t pauses;
	uint64_t ticks; /* of the TSC: paused, all together */
	uint64_t bounded; /* pauses that something due made shorter, or left out */
	uint64_t limited; /* that the system ended before their time (IA32_UMWAIT_CONTROL) */
};

/* Pauses in this way from now on; counters go on. */
void idle_set(struct idle *i, const struct idle_config *config);

/*
 * After a round in which nothing came, at the time `now`; `busy_rounds` are those of the worker so far, by which it is
 * seen whether something came meanwhile. Returns for how long to pause, ns, 0: not at all. What is due is asked for
 * only where there is to be a pause, see idle_bound().
 */
uint64_t idle_empty(struct idle *i, uint64_t busy_rounds, uint64_t now);

/* Whether it is time to sleep instead, for as long as idle_sleep() says. */
static inline bool idle_is_long(const struct idle *i) {
	return i->config.kind == IDLE_SLEEP && i->length >= i->config.longest;
}

/* How long to sleep at the time `now`, ns, where something is due at `due`; 0: what is due comes too soon for that.
 * `woken` says that all that may come wakes. */
uint64_t idle_sleep(const struct idle *i, uint64_t now, uint64_t due, bool woken);

/* What of a pause of `length` there is to be at the time `now`, where something is due at `due`, ns. */
uint64_t idle_bound(struct idle *i, uint64_t length, uint64_t now, uint64_t due);

/* So many ticks of the TSC; up to a minute. */
static inline uint64_t idle_ticks(const struct idle *i, uint64_t ns) {
	return (uint64_t)(((unsigned __int128)ns * i->ticks_per_ns_q32) >> 32);
}

/* Pauses by the instruction of its kind, from the TSC `now` on for `ticks`; counts it. */
void idle_pause(struct idle *i, uint64_t now, uint64_t ticks);

/* Counts a pause that somebody else made. */
static inline void idle_count(struct idle *i, uint64_t ticks) {
	i->pauses++;
	i->ticks += ticks;
}
