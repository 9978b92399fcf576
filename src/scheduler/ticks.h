/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in ticks of 1/64 ns, from the caller's first time on. A packet's time on a channel of 10
 * Gbps is exact to 1/10,000. time.c prevents an overflow. */
#pragma once

#include <stdint.h>

#define TICKS_PER_NS 64
#define NS_TICKS(ns) ((int64_t)(ns) * TICKS_PER_NS)
#define TICKS_MAX (INT64_C(1) << 61) /* so that sums of two do not overflow */
#define LEAD_TICKS NS_TICKS(SCHEDULER_LEAD_NS)
#define WAKE_TICKS NS_TICKS(SCHEDULER_WAKE_NS)

/* Delays have units of 256 ns. */
#define DELAY_SHIFT 14
#define DELAY_UNIT_NS 256

static inline int64_t less(int64_t a, int64_t b) {
	return a < b ? a : b;
}

static inline int64_t more(int64_t a, int64_t b) {
	return a > b ? a : b;
}

/* Ticks per byte at a rate, in 1/65536. 0 for rate 0, which means no limit. */
static inline uint64_t byte_cost(uint64_t rate) {
	const unsigned __int128 second = (unsigned __int128)8000000000 * TICKS_PER_NS << 16;

	return rate == 0 ? 0 : (uint64_t)((second + rate / 2) / rate);
}

/* Ticks for `bytes`, at most 2^18. */
static inline int64_t cost_ticks(uint64_t cost, uint32_t bytes) {
	return (int64_t)((cost * bytes + 0x8000) >> 16);
}

/* A token bucket, stored as the time at which it will be full. It admits a packet if max(full_at,
 * now) + cost <= now + depth. */
struct bucket {
	int64_t full_at;
	uint64_t cost; /* of a byte; 0: no limit */
	int64_t depth; /* ticks to fill the empty bucket */
};

/* The time from which the bucket admits `bytes`. */
static inline int64_t bucket_opens(const struct bucket *b, uint32_t bytes) {
	return b->full_at + cost_ticks(b->cost, bytes) - b->depth;
}

static inline void bucket_spend(struct bucket *b, uint32_t bytes, int64_t now) {
	b->full_at = more(b->full_at, now) + cost_ticks(b->cost, bytes);
}
