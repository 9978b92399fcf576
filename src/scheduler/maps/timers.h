/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers by number in a heap: they expire at exactly their time, the earliest first and of several at the same
 * time the one with the lowest number. O(log n). */
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
	uint32_t *places; /* by timer; TIMER_NONE where it is not set */
	uint32_t count;
};

/* `count` timers, none of them set. Returns false when memory is short; to be freed in any case. */
bool timers_create(struct timers *t, uint32_t count);
void timers_free(struct timers *t);

/* Sets or moves a timer. */
void timers_set(struct timers *t, uint32_t timer, uint64_t at);

/* Harmless where it is not set. */
void timers_clear(struct timers *t, uint32_t timer);

/* All that are set expire as long after `to` as they would have after `from`; none is before that. */
void timers_move(struct timers *t, uint64_t from, uint64_t to);

/* Takes out the first that has expired at `now`; TIMER_NONE where there is none. */
uint32_t timers_pop(struct timers *t, uint64_t now);
