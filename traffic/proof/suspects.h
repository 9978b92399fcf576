/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When packets were under way that were lost or came out of order: spans of time, each with the number of its packets.
 * Whether a gap of the machine explains them is found behind the run, when the gaps of all threads are known
 * (docs/traffic.md).
 */
#pragma once

#include <stdint.h>

#define SUSPECTS 16384 /* spans, a power of two */
#define SUSPECT_STEP_US 500 /* spans begin and end at multiples of this */

struct suspect {
	uint64_t from, to; /* TSC; to is 0 where nothing stands here */
	uint32_t lost, reordered; /* packets */
};

struct suspects {
	struct suspect *table; /* SUSPECTS entries, by the hash of the span */
	uint64_t step; /* TSC cycles */
	uint32_t count;
	uint64_t lost_more, reordered_more; /* packets for whose spans there was no entry */
};

/* Returns 0, or -1 when memory is short. */
int suspects_create(struct suspects *s, uint64_t tsc_hz);

void suspects_free(struct suspects *s);

/* Forgets all. */
void suspects_restart(struct suspects *s);

/* Packets that were under way from TSC `from` to `to`: the span is made longer by less than a step at each end. */
void suspects_add(struct suspects *s, uint64_t from, uint64_t to, uint32_t lost,
		  uint32_t reordered);
