/* SPDX-License-Identifier: BSD-3-Clause */
/* A small pseudo-random number generator (splitmix64): the same seed gives the same traffic. */
#pragma once

#include <stdint.h>

struct random {
	uint64_t state; /* any value is a seed */
};

static inline uint64_t random_next(struct random *r) {
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* A number below `limit`, which must not be 0. The bias of at most limit / 2^32 does not matter here. */
static inline uint32_t random_below(struct random *r, uint32_t limit) {
	return (uint32_t)(((random_next(r) >> 32) * limit) >> 32);
}
