/* SPDX-License-Identifier: BSD-3-Clause */
/* A token bucket in exact numbers. A token is a bit divided by MAPS_HZ, so a sample adds `rate`
 * tokens, without a remainder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/maps/maps.h"

#define BYTE_TOKENS (INT64_C(8) * MAPS_HZ)

struct bucket {
	int64_t tokens; /* -depth..depth */
	int64_t depth;
	uint64_t rate; /* bits per second */
	uint64_t at; /* time of `tokens` */
};

/* A bucket that is full at `now`. `rate` is above 0, `bytes` at most 2^30. */
static inline struct bucket bucket_of(uint64_t rate, uint64_t bytes, uint64_t now) {
	int64_t depth = (int64_t)bytes * BYTE_TOKENS;

	return (struct bucket){depth, depth, rate, now};
}

static inline void bucket_fill(struct bucket *b, uint64_t now) {
	uint64_t missing = (uint64_t)(b->depth - b->tokens), tokens;

	if (now <= b->at)
		return;
	/* what does not fit in 64 bits fills any bucket */
	if (__builtin_mul_overflow(now - b->at, b->rate, &tokens) || tokens > missing)
		tokens = missing;
	b->tokens += (int64_t)tokens;
	b->at = now;
}

/* Whether it has at least `bytes` at `now`. */
static inline bool bucket_has(struct bucket *b, uint64_t now, uint32_t bytes) {
	bucket_fill(b, now);
	return b->tokens >= bytes * BYTE_TOKENS;
}

static inline uint32_t bucket_bytes(const struct bucket *b) {
	return b->tokens < 0 ? 0 : (uint32_t)((uint64_t)b->tokens / BYTE_TOKENS);
}

static inline void bucket_spend(struct bucket *b, uint64_t now, uint32_t bytes) {
	bucket_fill(b, now);
	b->tokens -= (int64_t)bytes * BYTE_TOKENS;
	if (b->tokens < -b->depth)
		b->tokens = -b->depth;
}

/* When a bucket that holds less will hold `bytes`, which is at most its depth. */
static inline uint64_t bucket_when(const struct bucket *b, uint32_t bytes) {
	uint64_t missing = (uint64_t)((int64_t)bytes * BYTE_TOKENS - b->tokens);

	return b->at + (missing + b->rate - 1) / b->rate;
}
