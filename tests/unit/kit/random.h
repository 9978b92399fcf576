/* SPDX-License-Identifier: BSD-3-Clause */
/* Pseudo-random numbers (xorshift64*) from a fixed seed, so that each run repeats the same numbers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state; /* the seed; not 0 */
};

static inline uint32_t random_next(struct random *r) {
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (uint32_t)(r->state * UINT64_C(0x2545f4914f6cdd1d) >> 32);
}

/* 0 .. n - 1 */
static inline uint32_t random_below(struct random *r, uint32_t n) {
	return (uint32_t)((uint64_t)random_next(r) * n >> 32);
}

/* low .. high, both included */
static inline uint32_t random_between(struct random *r, uint32_t low, uint32_t high) {
	return low + random_below(r, high - low + 1);
}

static inline void random_fill(struct random *r, uint8_t *out, size_t size) {
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t)random_next(r);
}
