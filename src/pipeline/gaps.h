/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times during which the system did not run a polling thread, as the thread records them.
 *
 * Each lasts from the end of one round to the end of the next, long one; only the longest are kept.
 * In TSC cycles, which all threads and processes of a machine share.
 */
#pragma once

#include <stdint.h>

#define GAPS_MAX 256

struct gap {
	uint64_t from, to;
};

struct gaps {
	uint32_t count;
	uint32_t shorter; /* recorded, but not kept, as others are longer */
	struct gap list[GAPS_MAX];
};

/* Records a gap, which replaces the shortest one if the list is full. The thread itself calls
 * it, rarely. */
void gaps_record(struct gaps *g, uint64_t from, uint64_t to);
