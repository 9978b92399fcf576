/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks the numbers of a sequence: in order, late, duplicate or missing. Keeps the last WINDOW_SIZE
 * numbers.
 *
 *     5 6 8 7 7 9     6 in order, 8 leaves a gap of one, 7 is late and fills it, 7 is a duplicate
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_SIZE 1024

struct window {
	uint32_t next;
	uint32_t missing; /* numbers before `next` that have not arrived */
	uint64_t seen[WINDOW_SIZE / 64];
};

enum arrival {
	ARRIVAL_IN_ORDER,
	ARRIVAL_GAP, /* numbers before it are missing */
	ARRIVAL_LATE, /* a missing one */
	ARRIVAL_DUPLICATE,
	ARRIVAL_TOO_OLD, /* before the window: late or duplicate, unknown which */
};

/* Records `number`. A zeroed window expects 0; set `next` for another start, and numbers before it
 * count as missing. On ARRIVAL_GAP, sets `gap` to how many numbers were skipped. */
enum arrival window_arrive(struct window *w, uint32_t number, uint32_t *gap);

/* Whether `number` arrived, if the window still has it. */
bool window_received(const struct window *w, uint32_t number);

/* Extends 16 bits on the wire to the number nearest to `next`. */
static inline uint32_t window_extend(const struct window *w, uint16_t number) {
	return w->next + (uint32_t)(int32_t)(int16_t)(number - (uint16_t)w->next);
}
