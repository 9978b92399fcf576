/* SPDX-License-Identifier: BSD-3-Clause */
/* A token bucket that limits a rate. Its caller supplies the clock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TAP_RATE_MAX 1000000u /* per second */
#define TAP_BUCKET_DEPTH 10 /* the bucket holds the tokens of 1/10 s, at least one */

/* fraction bits of a token: the tokens of 1 s at TAP_RATE_MAX fit 64 bits */
#define TAP_TOKEN_BITS 40
#define TAP_BUCKET_SECOND UINT64_C(1000000000) /* ns */

struct tap_bucket {
	uint64_t per_ns; /* tokens per ns; this and the next two are fixed point */
	uint64_t max;
	uint64_t tokens;
	uint64_t now; /* ns */
	bool begun;
};

/* `rate`: 1..TAP_RATE_MAX per second; 0: no limit. The bucket starts full. */
static inline void tap_bucket_set(struct tap_bucket *b, uint32_t rate) {
	uint64_t max = rate / TAP_BUCKET_DEPTH;

	*b = (struct tap_bucket){
		.per_ns = ((uint64_t)rate << TAP_TOKEN_BITS) / TAP_BUCKET_SECOND,
		.max = (max > 0 ? max : 1) << TAP_TOKEN_BITS,
	};
	b->tokens = b->max;
}

/* Returns whether a token was available. A clock that goes back adds no tokens: a site
 * may move to a worker with another clock. */
static inline bool tap_bucket_admit(struct tap_bucket *b, uint64_t now) {
	uint64_t passed = b->begun && now > b->now ? now - b->now : 0;

	if (b->per_ns == 0)
		return true;
	if (passed > TAP_BUCKET_SECOND)
		passed = TAP_BUCKET_SECOND;
	b->begun = true;
	b->now = now;
	b->tokens += passed * b->per_ns;
	if (b->tokens > b->max)
		b->tokens = b->max;
	if (b->tokens >> TAP_TOKEN_BITS == 0)
		return false;
	b->tokens -= UINT64_C(1) << TAP_TOKEN_BITS;
	return true;
}
