/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Idle rounds of a worker: it polls for a while, then pauses, and pauses longer the longer no packets arrive.
 * A pause ends before the next due time, so that nothing is late. The caller supplies the time: ns of its
 * worker's clock, or of a test. instructions.h has the wait instructions, sleep.h the system's sleep.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/server_config.h"

#define IDLE_FIRST_NS UINT64_C(1000) /* the first pause, as published */

/* Durations of the system's sleep, after the pauses have reached their maximum, ns. */
#define IDLE_SLEEP_NS UINT64_C(100000) /* at most, if packets may arrive without a wake-up */
/* the same, once no packet arrived for the next time */
#define IDLE_SLEEP_LATER_NS UINT64_C(4000000)
#define IDLE_SLEEP_LATER_AFTER_NS UINT64_C(1000000000)
#define IDLE_SLEEP_WOKEN_NS UINT64_C(10000000) /* at most, if all events wake the worker */
/* wakes so long before the due time, as the system may be late */
#define IDLE_SLEEP_EARLY_NS UINT64_C(60000)

/* Whether this CPU supports the kind; false for IDLE_AUTO. */
bool idle_supported(enum idle_kind kind);

/* The best kind of this CPU, for an exclusive or a shared core. */
enum idle_kind idle_best(bool shared);

/* Configuration of pauses. */
struct idle_config {
	enum idle_kind kind; /* less than IDLE_KINDS */
	/* in a row before the first pause, and before each longer one; 0 means 1 */
	uint32_t empty_rounds;
	uint64_t longest; /* ns */
	uint64_t tsc_hz;
};

/* State of one worker, which alone writes it; other threads may read the counters. */
struct idle {
	struct idle_config config;
	uint64_t ticks_per_ns_q32; /* fixed point, 32 fractional bits */
	uint64_t busy_rounds; /* of the worker at its last empty round */
	uint64_t since; /* ns: start of the idle time */
	uint32_t empty; /* empty rounds towards the next longer pause */
	uint64_t length; /* of the next pause, ns; 0: polls */
	uint64_t pauses;
	uint64_t ticks; /* TSC ticks of all pauses */
	uint64_t bounded; /* pauses that a due time shortened or prevented */
	uint64_t limited; /* pauses that the system ended early (IA32_UMWAIT_CONTROL) */
};

/* Changes the configuration; counters continue. */
void idle_set(struct idle *i, const struct idle_config *config);

/*
 * Call it after an empty round at the time `now`. A change of `busy_rounds`, the worker's busy rounds so far,
 * restarts the idle time. Returns the length of the pause, ns; 0: no pause. The caller determines the due
 * time only for a pause, see idle_bound().
 */
uint64_t idle_empty(struct idle *i, uint64_t busy_rounds, uint64_t now);

/* Whether to sleep instead, for idle_sleep(). */
static inline bool idle_is_long(const struct idle *i) {
	return i->config.kind == IDLE_SLEEP && i->length >= i->config.longest;
}

/* The time to sleep at `now`, ns, with the next due time `due`; 0: it is too soon. `woken`: all events wake
 * the worker. */
uint64_t idle_sleep(const struct idle *i, uint64_t now, uint64_t due, bool woken);

/* The part of a pause of `length` at `now` that ends by `due`, ns. */
uint64_t idle_bound(struct idle *i, uint64_t length, uint64_t now, uint64_t due);

/* Converts ns to TSC ticks, up to a minute. */
static inline uint64_t idle_ticks(const struct idle *i, uint64_t ns) {
	return (uint64_t)(((unsigned __int128)ns * i->ticks_per_ns_q32) >> 32);
}

/* Pauses with the instruction of its kind for `ticks` from the TSC `now`, and counts the pause. */
void idle_pause(struct idle *i, uint64_t now, uint64_t ticks);

/* Counts a pause made elsewhere. */
static inline void idle_count(struct idle *i, uint64_t ticks) {
	i->pauses++;
	i->ticks += ticks;
}
