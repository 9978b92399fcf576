/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rate let through, measured where packets arrive. Times are cycles of the TSC. */
#pragma once

#include <stdint.h>

/*
 * A token bucket of unlimited debt: how far what came is beyond rate x t + burst, in whatever time t
 * that is most.
 */
struct rate_limit {
	double rate; /* bytes a cycle; 0: no limit */
	double burst; /* bytes */
	double level; /* bytes that came beyond the rate, at `last` */
	double most; /* of `level`, ever */
	uint64_t last;
	uint64_t since; /* when `level` was 0 */
	uint64_t most_since, most_to; /* the time in which it became `most` */
};

static inline void rate_limit_take(struct rate_limit *l, uint32_t bytes, uint64_t now) {
	double left = l->level - (double)(now - l->last) * l->rate;

	if (left <= 0) {
		left = 0;
		l->since = now;
	}
	l->level = left + bytes;
	l->last = now;
	if (l->level > l->most) {
		l->most = l->level;
		l->most_since = l->since;
		l->most_to = now;
	}
}

/* How long the bytes beyond the limit would have had to wait, in cycles; 0 where there are none. */
static inline double rate_limit_over(const struct rate_limit *l) {
	return l->rate > 0 && l->most > l->burst ? (l->most - l->burst) / l->rate : 0;
}

/* What came of a queue while packets waited in it. */
struct backlog {
	uint64_t last; /* when the latest packet came */
	uint64_t
		cycles; /* between packets of which the second one had waited when the first one came */
	uint64_t bytes; /* of these second ones */
};

/* A packet of `bytes` comes at `now`. `waits`: it waited already when the one before came. */
static inline void backlog_take(struct backlog *b, bool waits, uint64_t bytes, uint64_t now) {
	if (waits) {
		b->cycles += now - b->last;
		b->bytes += bytes;
	}
	b->last = now;
}
