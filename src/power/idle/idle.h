/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Idle rounds of a worker: it polls for a while, then pauses. Without packets, the pauses become
 * longer. A pause ends before the next due time, so that nothing is late. The caller supplies the
 * time: ns of its worker's clock, or of a test. instructions.h has the wait instructions, sleep.h
 * the system's sleep.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/server_config.h"

#define IDLE_FIRST_NS UINT64_C(1000) /* the first pause */

/* Durations of the system's sleep, ns. It replaces pauses once they have the maximum length. */
/* at most, if a packet may arrive without waking the worker */
#define IDLE_SLEEP_NS UINT64_C(100000)
/* at most, in the same case, after IDLE_SLEEP_LATER_AFTER_NS without packets */
#define IDLE_SLEEP_LATER_NS UINT64_C(4000000)
#define IDLE_SLEEP_LATER_AFTER_NS UINT64_C(1000000000)
#define IDLE_SLEEP_WOKEN_NS UINT64_C(10000000) /* at most, if all events wake the worker */
/* the sleep ends so long before the due time, as the system may wake the worker late */
#define IDLE_SLEEP_EARLY_NS UINT64_C(60000)

/* Whether this CPU supports the kind; false for IDLE_AUTO. */
bool idle_supported(enum idle_kind kind);

/* The best kind of this CPU, for an exclusive or a shared core. */
enum idle_kind idle_best(bool shared);

/* Configuration of pauses. */
struct idle_config {
	enum idle_kind kind; /* a kind other than IDLE_AUTO */
	/* empty rounds in a row before the first pause and before each longer one; 0 means 1 */
	uint32_t empty_rounds;
	uint64_t longest; /* ns */
	uint64_t coalesce; /* ns between the starts of two rounds, if the first has few packets */
	uint64_t tsc_hz;
};

/* State of one worker, which alone writes it; other threads may read the counters. */
struct idle {
	struct idle_config config;
	uint64_t ticks_per_ns_q32; /* fixed point, 32 fractional bits */
	uint64_t busy_rounds; /* of the worker at its last empty round */
	uint64_t since; /* ns: start of the idle time */
	uint32_t empty; /* empty rounds so far towards the next longer pause */
	uint64_t length; /* ns: length of the next pause; 0: poll */
	uint64_t pauses;
	uint64_t ticks; /* TSC ticks of all pauses */
	uint64_t bounded; /* pauses that a due time shortened or prevented */
	uint64_t limited; /* pauses that the system ended early (IA32_UMWAIT_CONTROL) */
};

/* Changes the configuration and starts again with polling; counters continue. */
void idle_set(struct idle *i, const struct idle_config *config);

/*
 * Call it after an empty round at the time `now`. If the number of busy rounds has changed, the
 * idle time starts again. Returns the length of the pause, ns; 0: no pause. Only before a pause,
 * the caller must determine the due time and call idle_bound().
 */
uint64_t idle_empty(struct idle *i, uint64_t busy_rounds, uint64_t now);

/* Whether to call idle_sleep() instead of a pause. */
static inline bool idle_is_long(const struct idle *i) {
	return i->config.kind == IDLE_SLEEP && i->length >= i->config.longest;
}

/* How long to sleep at `now`, ns; 0: the due time `due` is too near. `woken`: all events wake the
 * worker. */
uint64_t idle_sleep(const struct idle *i, uint64_t now, uint64_t due, bool woken);

/* Shortens a pause of `length` at `now` so that it ends by `due`. Returns its length, ns. */
uint64_t idle_bound(struct idle *i, uint64_t length, uint64_t now, uint64_t due);

/* Converts ns to TSC ticks, up to a minute. */
static inline uint64_t idle_ticks(const struct idle *i, uint64_t ns) {
	return (uint64_t)(((unsigned __int128)ns * i->ticks_per_ns_q32) >> 32);
}

/* Pauses with the configured instruction for `ticks` from the TSC `now`, and counts the pause. */
void idle_pause(struct idle *i, uint64_t now, uint64_t ticks);

/* Counts a pause made elsewhere. */
static inline void idle_count(struct idle *i, uint64_t ticks) {
	i->pauses++;
	i->ticks += ticks;
}
