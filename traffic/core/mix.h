/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet mixes: sizes of packets and their shares. Sizes are of Ethernet frames without CRC. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "random/deck.h"

#define MIX_MAX_SIZES 256
#define MIX_MIN_SIZE 64
#define MIX_ERROR 512

/* Allowed mixes, for help and messages. */
#define MIX_WORDS                                                                    \
	"imix, imix-2017, imix-2021, imix-2023, upstream-imix, upstream-imix-70, "   \
	"upstream-imix-2021, upstream-imix-2023, a size in bytes, largest, a table " \
	"SIZE:WEIGHT,SIZE:WEIGHT, or one in a file: @FILE"

struct mix {
	uint32_t sizes[MIX_MAX_SIZES];
	uint32_t weights[MIX_MAX_SIZES];
	unsigned count;
};

/*
 * Parses a mix:
 *
 *     imix, imix-2017, -2021, -2023       15 % of 84, 10 % of 256, 75 % of 1280 bytes
 *     upstream-imix, upstream-imix-2021   65 % of 84, 18 % of 256, 17 % of 1280 bytes
 *     upstream-imix-70, -2023             the same with 70 bytes, which is too short for IPv6
 *     1280                                one size
 *     largest                             the size max_size
 *     84:15,256:10,1280:75                a table of sizes and weights; without one the weight is 1
 *     @FILE                               the same, one per line, as "84:15" or "84 15"
 *
 * Sizes are MIX_MIN_SIZE..max_size bytes. Returns 0, or -1 with one line in `error` that says what is
 * wrong. `error` should have MIX_ERROR bytes.
 */
int mix_parse(const char *text, uint32_t max_size, struct mix *out, char *error, size_t error_size);

/* Mean size of a packet, in bytes. */
double mix_mean(const struct mix *m);

/* The largest size, in bytes. */
uint32_t mix_largest(const struct mix *m);

/* Builds a deck whose kinds are the indices of the sizes. Returns as deck_create(). */
int mix_deck(const struct mix *m, struct deck *d);
