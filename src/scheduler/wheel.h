/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers by number on a hierarchical wheel: 6 levels of 64 slots, the finest of 4.096 us.
 * Setting, clearing and expiring a timer costs the same however many there are, and empty slots
 * are passed over by looking at one word a level. A timer expires up to one slot late, and one
 * that is set further ahead than three days early.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/ring.h"

#define WHEEL_LEVELS 6
#define WHEEL_BITS 6
#define WHEEL_SLOTS (1u << WHEEL_BITS)
#define WHEEL_SHIFT 18 /* ticks of a slot, as a power of two */
#define WHEEL_TURN (INT64_C(1) << (WHEEL_LEVELS * WHEEL_BITS + WHEEL_SHIFT)) /* ticks */

struct timer {
	struct link link;
	uint64_t slot; /* when it expires */
	uint16_t place; /* level and slot of the wheel, WHEEL_DUE or WHEEL_IDLE */
};

#define WHEEL_DUE (WHEEL_LEVELS * WHEEL_SLOTS)
#define WHEEL_IDLE UINT16_MAX

struct wheel {
	struct timer *timers;
	uint32_t count;
	uint64_t now; /* slots */
	uint64_t occupied[WHEEL_LEVELS]; /* a bit a slot */
	uint32_t first[WHEEL_DUE + 1]; /* timer of each slot, and of those that expired */
	uint16_t begun; /* the place whose timers are being spread, or WHEEL_IDLE */
};

/* `count` timers, none of them set. Returns 0, or -1 when memory is short. */
int wheel_create(struct wheel *w, uint32_t count);
void wheel_free(struct wheel *w);

/* Sets or moves a timer to the time `at`, in ticks. */
void wheel_set(struct wheel *w, uint32_t timer, int64_t at);

/* Harmless where it is not set. */
void wheel_clear(struct wheel *w, uint32_t timer);

static inline bool wheel_is_set(const struct wheel *w, uint32_t timer) {
	return w->timers[timer].place != WHEEL_IDLE;
}

/*
 * Takes out one timer that has expired at the time `now`, in ticks; NONE where there is no more, or
 * where `steps` have come to 0: each timer that is moved or taken out takes one of them. What is
 * left then goes on with the next call.
 */
uint32_t wheel_pop(struct wheel *w, int64_t now, uint32_t *steps);

/* The clock is set back by `ticks`, a multiple of WHEEL_TURN, and all timers with it. */
void wheel_rebase(struct wheel *w, int64_t ticks);

/* A time, in ticks, before which no timer expires; INT64_MAX where none is set. */
int64_t wheel_next(const struct wheel *w);
