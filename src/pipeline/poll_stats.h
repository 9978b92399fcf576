/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of polls and lookups. They depend on arrival times and on other programs of the core,
 * so no two runs agree.
 *
 * The packet counters (pipeline/counters.h) depend on neither.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A poll with this number of packets may have left more: some drivers return no more at a time. */
#define POLL_FULL 32

struct poll_stats {
	uint64_t polls_useful; /* polls that returned packets */
	uint64_t polls_empty; /* polls that returned none */
	/* polls that returned POLL_FULL or more, and so did the poll before */
	uint64_t full_polls;
	bool was_full;
	uint64_t lookups; /* calls that look up modems; upstream bursts, by SID */
	uint64_t lookup_packets; /* packets or bursts of these calls */
};

/* Whether this poll and the one before were full. One full poll takes a burst that arrived
 * together; a second one shows a queue. */
static inline bool poll_stats_is_full(bool *was_full, uint16_t received) {
	bool full = received >= POLL_FULL, both = full && *was_full;

	*was_full = full;
	return both;
}

static inline void poll_stats_count_poll(struct poll_stats *e, uint16_t received) {
	e->polls_useful += received > 0;
	e->polls_empty += received == 0;
	e->full_polls += poll_stats_is_full(&e->was_full, received);
}

static inline void poll_stats_count_lookup(struct poll_stats *e, uint16_t n) {
	e->lookups++;
	e->lookup_packets += n;
}
