/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time spans in which lost or reordered packets were under way, with the number of packets. After the run,
 * when the scheduling gaps of all threads are known, they show whether a gap explains the packets
 * (docs/traffic.md).
 */
#pragma once

#include <stdint.h>

#define SUSPECTS_MAX 16384 /* spans, a power of two */
#define SUSPECT_STEP_US 500 /* spans are rounded to multiples of this */

struct suspect {
	uint64_t from, to; /* TSC; `to` is 0: the entry is free */
	uint32_t lost, reordered; /* packets */
};

struct suspects {
	struct suspect *table; /* hash table of SUSPECTS_MAX entries by span */
	uint64_t step; /* TSC cycles */
	uint32_t count;
	uint64_t lost_more, reordered_more; /* packets whose spans did not fit in the table */
};

/* Returns 0, or -1 if memory is short. The caller frees it with suspects_free() in either case. */
int suspects_create(struct suspects *s, uint64_t tsc_hz);

void suspects_free(struct suspects *s);

/* Removes all spans. */
void suspects_restart(struct suspects *s);

/* Adds packets under way from TSC `from` to `to`. Rounds the span outwards by less than a step at
 * each end. */
void suspects_add(struct suspects *s, uint64_t from, uint64_t to, uint32_t lost,
		  uint32_t reordered);
