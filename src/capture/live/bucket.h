/* SPDX-License-Identifier: BSD-3-Clause */
/* At most so many a second: a bucket of tokens by the clock of who takes them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TAP_RATE_MAX 1000000u /* a second */
#define TAP_BUCKET_DEPTH 10 /* it holds the tokens of this part of a second, and one at least */

#define TAP_TOKEN_BITS 40 /* of a token's fraction: a second of TAP_RATE_MAX still fits */
#define TAP_BUCKET_SECOND UINT64_C(1000000000) /* ns */

struct tap_bucket {
	uint64_t a_ns; /* tokens, as the next two in fixed point */
	uint64_t most;
	uint64_t tokens;
	uint64_t now; /* ns */
	bool begun;
};

/* `rate`: 1..TAP_RATE_MAX a second; 0: no limit. It is full at first. */
static inline void tap_bucket_set(struct tap_bucket *b, uint32_t rate) {
	uint64_t most = rate / TAP_BUCKET_DEPTH;

	*b = (struct tap_bucket){
		.a_ns = ((uint64_t)rate << TAP_TOKEN_BITS) / TAP_BUCKET_SECOND,
		.most = (most > 0 ? most : 1) << TAP_TOKEN_BITS,
	};
	b->tokens = b->most;
}

/* Whether one may go now. A clock that went back, as with another worker's, gives nothing. */
static inline bool tap_bucket_take(struct tap_bucket *b, uint64_t now) {
	uint64_t passed = b->begun && now > b->now ? now - b->now : 0;

	if (b->a_ns == 0)
		return true;
	if (passed > TAP_BUCKET_SECOND)
		passed = TAP_BUCKET_SECOND;
	b->begun = true;
	b->now = now;
	b->tokens += passed * b->a_ns;
	if (b->tokens > b->most)
		b->tokens = b->most;
	if (b->tokens >> TAP_TOKEN_BITS == 0)
		return false;
	b->tokens -= UINT64_C(1) << TAP_TOKEN_BITS;
	return true;
}
