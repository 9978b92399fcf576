/* SPDX-License-Identifier: BSD-3-Clause */
/* DES as FIPS 46-3 spells it out: bits are numbered from 1, the first one of a block being the highest. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What these read is of fixed size: the sanitizers, which make it slow, may look at others. */
#define DES_FAST __attribute__((no_sanitize("address", "undefined")))

static inline DES_FAST uint64_t des_bits(uint64_t in, unsigned in_bits, const uint8_t *table,
					 unsigned n) {
	uint64_t out = 0;

	for (unsigned i = 0; i < n; i++)
		out = out << 1 | (in >> (in_bits - table[i]) & 1);
	return out;
}

static const uint8_t des_p[32] = {16, 7, 20, 21, 29, 12, 28, 17, 1,  15, 23, 26, 5,  18, 31, 10,
				  2,  8, 24, 14, 32, 27, 3,  9,	 19, 13, 30, 6,	 22, 11, 4,  25};
static const uint8_t des_pc1[56] = {57, 49, 41, 33, 25, 17, 9,	1,  58, 50, 42, 34, 26, 18,
				    10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36,
				    63, 55, 47, 39, 31, 23, 15, 7,  62, 54, 46, 38, 30, 22,
				    14, 6,  61, 53, 45, 37, 29, 21, 13, 5,  28, 20, 12, 4};
static const uint8_t des_pc2[48] = {14, 17, 11, 24, 1,	5,  3,	28, 15, 6,  21, 10, 23, 19, 12, 4,
				    26, 8,  16, 7,  27, 20, 13, 2,  41, 52, 31, 37, 47, 55, 30, 40,
				    51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32};

/* The selection functions, row by row in hexadecimal digits. */
static const char *const des_boxes[8] = {
	"e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
	"f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
	"a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
	"7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
	"2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
	"c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
	"4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
	"d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
};

static inline void des_keys(uint64_t key, uint64_t keys[16]) {
	uint64_t both = des_bits(key, 64, des_pc1, 56);
	uint32_t c = (uint32_t)(both >> 28), d = (uint32_t)(both & 0xfffffff);

	for (unsigned round = 0; round < 16; round++) {
		unsigned n = round < 2 || round == 8 || round == 15 ? 1 : 2;

		c = (c << n | c >> (28 - n)) & 0xfffffff;
		d = (d << n | d >> (28 - n)) & 0xfffffff;
		keys[round] = des_bits((uint64_t)c << 28 | d, 56, des_pc2, 48);
	}
}

/* E: a box gets its four bits with the one before and the one behind them, in a circle. */
static inline DES_FAST uint32_t des_function(uint32_t half, uint64_t key) {
	uint64_t turned = half >> 1 | (uint64_t)half << 31, twice = turned << 32 | (uint32_t)turned;
	uint32_t out = 0;

	for (unsigned box = 0; box < 8; box++) {
		unsigned six = (unsigned)(twice >> (58 - 4 * box) ^ key >> (42 - 6 * box)) & 0x3f;
		unsigned row = (six >> 4 & 2) | (six & 1), column = six >> 1 & 0xf;
		char digit = des_boxes[box][16 * row + column];

		out = out << 4 | (uint32_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
	}
	return (uint32_t)des_bits(out, 32, des_p, 32);
}

/* IP, or its inverse, which puts each bit where IP took it from. */
static inline DES_FAST uint64_t des_ip(uint64_t in, bool inverse) {
	static const uint8_t first[8] = {58, 60, 62, 64, 57, 59, 61, 63};
	uint64_t out = 0;

	for (unsigned i = 0; i < 64; i++) {
		unsigned from = 64 - (first[i / 8] - 8 * (i % 8));

		out |= (in >> (inverse ? 63 - i : from) & 1) << (inverse ? from : 63 - i);
	}
	return out;
}

static inline DES_FAST uint64_t des_block(const uint64_t keys[16], uint64_t block, bool decrypt) {
	uint64_t start = des_ip(block, false);
	uint32_t left = (uint32_t)(start >> 32), right = (uint32_t)start;

	for (unsigned round = 0; round < 16; round++) {
		uint32_t next = left ^ des_function(right, keys[decrypt ? 15 - round : round]);

		left = right;
		right = next;
	}
	return des_ip((uint64_t)right << 32 | left, true);
}
