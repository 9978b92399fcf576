/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures conformance to a rate and the service of backlogged queues on arrival. Times are TSC cycles. */
#pragma once

#include <stdint.h>

/* A token bucket of unlimited debt: the maximum over all intervals t of the bytes received beyond
 * rate x t + burst. */
struct rate_limit {
	double rate; /* bytes per cycle; 0: no limit */
	double burst; /* bytes */
	double level; /* bytes received beyond the rate, at `last` */
	double max; /* maximum of `level` */
	uint64_t last; /* time of the last count; 0: none */
};

static inline void rate_limit_count(struct rate_limit *l, uint32_t bytes, uint64_t now) {
	double left = l->level - (double)(now - l->last) * l->rate;

	l->level = (left > 0 ? left : 0) + bytes;
	l->last = now;
	if (l->level > l->max)
		l->max = l->level;
}

/* Delay in cycles that the limit would have required for the excess bytes; 0 if there are none. */
static inline double rate_limit_over(const struct rate_limit *l) {
	return l->rate > 0 && l->max > l->burst ? (l->max - l->burst) / l->rate : 0;
}

/*
 * Bytes received while their queue had a backlog. A received packet has waited since it was made. If a
 * packet was already made when the one before it arrived, the queue had a backlog between the two arrivals.
 */
struct backlog {
	uint64_t until; /* arrival of the latest packet that had waited */
	uint64_t total; /* bytes received in total; the caller adds them */
	uint64_t total_until; /* the same at `until` */
	uint64_t cycles; /* cycles with a backlog */
	uint64_t bytes; /* bytes received in these */
};

/* Counts a packet whose bytes `total` includes. It has waited if it arrives more than `wait` after
 * it was made at `made` (0: unknown). */
static inline void backlog_count(struct backlog *b, uint64_t made, uint64_t wait, uint64_t now) {
	if (made == 0 || made + wait >= now)
		return;
	if (made + wait < b->until) {
		b->cycles += now - b->until;
		b->bytes += b->total - b->total_until;
	}
	b->until = now;
	b->total_until = b->total;
}
