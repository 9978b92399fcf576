/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times for which the system did not run a thread that polls, as the thread notes them itself: the longest ones,
 * each from the end of the round before to the end of the round that was long. In TSC cycles, which all threads and
 * processes of a machine share.
 */
#pragma once

#include <stdint.h>

#define GAPS_MOST 256

struct gap {
	uint64_t from, to;
};

struct gaps {
	uint32_t count;
	uint32_t shorter; /* that were noted, and are not kept as others are longer */
	struct gap list[GAPS_MOST];
};

/* Keeps the gap, in place of the shortest one where the list is full. Seldom called, by the thread itself. */
void gaps_note(struct gaps *g, uint64_t from, uint64_t to);
