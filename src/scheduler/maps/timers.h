/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers by index in a heap. They expire exactly at their time, the earliest first; of several,
 * the lowest index first. O(log n). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TIMER_NONE UINT32_MAX

struct timer_entry {
	uint64_t at;
	uint32_t timer;
};

struct timers {
	struct timer_entry *heap;
	uint32_t *positions; /* heap index by timer, or TIMER_NONE */
	uint32_t count;
};

/* `count` timers, none of them set. Returns false if memory is short. Free them in any case. */
bool timers_create(struct timers *t, uint32_t count);
void timers_free(struct timers *t);

/* Sets or moves a timer. */
void timers_set(struct timers *t, uint32_t timer, uint64_t at);

/* No effect if the timer is not set. */
void timers_clear(struct timers *t, uint32_t timer);

/* Moves all timers from the time base `from` to `to`. No timer may be before `from`. */
void timers_move(struct timers *t, uint64_t from, uint64_t to);

/* Removes and returns the first timer that has expired at `now`, or TIMER_NONE. */
uint32_t timers_pop(struct timers *t, uint64_t now);
