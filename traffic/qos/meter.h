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
};

static inline void rate_limit_take(struct rate_limit *l, uint32_t bytes, uint64_t now) {
	double left = l->level - (double)(now - l->last) * l->rate;

	l->level = (left > 0 ? left : 0) + bytes;
	l->last = now;
	if (l->level > l->most)
		l->most = l->level;
}

/* How long the bytes beyond the limit would have had to wait, in cycles; 0 where there are none. */
static inline double rate_limit_over(const struct rate_limit *l) {
	return l->rate > 0 && l->most > l->burst ? (l->most - l->burst) / l->rate : 0;
}

/*
 * What came of queues while packets waited in them. A packet that comes has waited since it was made:
 * of two of which the second one was there when the first one came, the time between belongs to it.
 */
struct backlog {
	uint64_t until; /* when the latest packet came that had waited */
	uint64_t total; /* bytes that came, ever, */
	uint64_t total_until; /* and until then */
	uint64_t cycles; /* in which packets waited */
	uint64_t bytes; /* that came in it */
};

/* A packet that was made at `made` (0: nobody knows) has waited where it comes more than `wait` later. The bytes
 * are in `total` by now. */
static inline void backlog_take(struct backlog *b, uint64_t made, uint64_t wait, uint64_t now) {
	if (made == 0 || made + wait >= now)
		return;
	if (made + wait < b->until) {
		b->cycles += now - b->until;
		b->bytes += b->total - b->total_until;
	}
	b->until = now;
	b->total_until = b->total;
}
