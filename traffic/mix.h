/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sizes packets have, and in which shares. Sizes are Ethernet frames without their CRC. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "deck.h"

#define MIX_MAX_SIZES 16
#define MIX_MIN_SIZE 64

struct mix {
	uint32_t sizes[MIX_MAX_SIZES];
	uint32_t weights[MIX_MAX_SIZES];
	unsigned count;
};

/*
 * Reads "imix" (15 % of 84, 10 % of 256, 75 % of 1280 bytes), "upstream-imix" (65 %, 18 %, 17 % of
 * the same), "upstream-imix-70" (70 bytes instead of 84, which is too short for IPv6), one size
 * ("1280"), or a table ("84:15,256:10,1280:75", sizes and weights). Sizes are
 * MIX_MIN_SIZE..max_size. Returns 0, or -1 with what is wrong in `error`.
 */
int mix_parse(const char *text, uint32_t max_size, struct mix *out, char *error, size_t error_size);

/* Bytes of the mean packet. */
double mix_mean(const struct mix *m);

/* The largest size. */
uint32_t mix_largest(const struct mix *m);

/* A deck whose kinds are the indices of the sizes. As deck_create(). */
int mix_deck(const struct mix *m, struct deck *d);
