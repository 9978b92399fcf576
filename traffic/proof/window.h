/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What became of the numbers of a sequence: which came, came late, came twice. Remembers the last
 * WINDOW_SIZE numbers.
 *
 *     5 6 8 7 7 9     6 in order, 8 leaves a gap of one, 7 is late and fills it, 7 is a duplicate
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_SIZE 1024

struct window {
	uint32_t next;
	uint32_t missing; /* of those before it */
	uint64_t seen[WINDOW_SIZE / 64];
};

enum arrival {
	ARRIVAL_IN_ORDER,
	ARRIVAL_GAP, /* numbers before it are missing */
	ARRIVAL_LATE, /* a missing one */
	ARRIVAL_DUPLICATE,
	ARRIVAL_TOO_OLD, /* out of the window: late or duplicate, nobody knows */
};

/*
 * Takes note of `number`. A zeroed window expects 0; another start is set by `next`, and what is
 * before it then counts as missing. `gap` gets how many numbers were left out by ARRIVAL_GAP.
 */
enum arrival window_arrive(struct window *w, uint32_t number, uint32_t *gap);

/* Whether `number` came, as far as the window remembers. */
bool window_came(const struct window *w, uint32_t number);

/* The number that 16 bits on the wire mean, near the next one. */
static inline uint32_t window_extend(const struct window *w, uint16_t number) {
	return w->next + (uint32_t)(int32_t)(int16_t)(number - (uint16_t)w->next);
}
