/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers by index on a hierarchical wheel: 6 levels of 64 slots, the finest of 4.096 us. The cost
 * of setting, clearing and expiring a timer does not depend on their number, and skipping empty
 * slots takes a word per level. A timer expires up to one slot late. One that is set more than
 * three days ahead expires early.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/ring.h"

#define WHEEL_LEVELS 6
#define WHEEL_BITS 6
#define WHEEL_SLOTS (1u << WHEEL_BITS)
#define WHEEL_SHIFT 18 /* log2 of the ticks per slot */
#define WHEEL_SPAN (INT64_C(1) << (WHEEL_LEVELS * WHEEL_BITS + WHEEL_SHIFT)) /* ticks */

struct timer {
	struct link link;
	uint64_t slot; /* when it expires */
	uint16_t list; /* level and slot of the wheel, WHEEL_DUE or WHEEL_IDLE */
};

#define WHEEL_DUE (WHEEL_LEVELS * WHEEL_SLOTS)
#define WHEEL_IDLE UINT16_MAX

struct wheel {
	struct timer *timers;
	uint32_t count;
	uint64_t now; /* slots */
	uint64_t occupied[WHEEL_LEVELS]; /* bit per slot */
	uint32_t first[WHEEL_DUE + 1]; /* first timer of each slot, and of the expired ones */
	uint16_t begun; /* slot whose timers are being moved, or WHEEL_IDLE */
};

/* `count` timers, none of them set. Returns 0, or -1 if memory is short. */
int wheel_create(struct wheel *w, uint32_t count);
void wheel_free(struct wheel *w);

/* Sets or moves a timer to the time `at`, in ticks. */
void wheel_set(struct wheel *w, uint32_t timer, int64_t at);

/* No effect if the timer is not set. */
void wheel_clear(struct wheel *w, uint32_t timer);

static inline bool wheel_is_set(const struct wheel *w, uint32_t timer) {
	return w->timers[timer].list != WHEEL_IDLE;
}

/*
 * Removes and returns a timer that has expired at `now`, in ticks. Returns NONE if there is none or
 * `steps` are 0. Each timer that is moved or removed takes a step. The next call goes on with the
 * rest.
 */
uint32_t wheel_pop(struct wheel *w, int64_t now, uint32_t *steps);

/* Sets the clock and all timers back by `ticks`, a multiple of WHEEL_SPAN. */
void wheel_rebase(struct wheel *w, int64_t ticks);

/* A time, in ticks, before which no timer expires. INT64_MAX if no timer is set. */
int64_t wheel_next(const struct wheel *w);
