/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference implementation of BPI+ encryption: AES-128 from FIPS 197, and CBC with residual block termination from SEC.
 * It is slow and independent of the crypto libraries. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. */
static inline uint8_t aes_multiply(uint8_t a, uint8_t b) {
	uint8_t product = 0;

	for (; b != 0; b >>= 1) {
		if (b & 1)
			product ^= a;
		a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
	}
	return product;
}

/* The S-box, computed from its definition: multiplicative inverse, then affine transformation. */
static inline uint8_t aes_substitute(uint8_t x) {
	static uint8_t box[256];

	if (box[0] == 0) {
		for (unsigned i = 0; i < 256; i++) {
			uint8_t inverse = 0, out = 0x63;

			for (unsigned k = 1; k < 256 && i > 0; k++) {
				if (aes_multiply((uint8_t)i, (uint8_t)k) == 1)
					inverse = (uint8_t)k;
			}
			for (unsigned k = 0; k < 5; k++)
				out ^= (uint8_t)(inverse << k | inverse >> (8 - k));
			box[i] = out;
		}
	}
	return box[x];
}

/* Replaces the round key by the next round's. */
static inline void aes_next_key(uint8_t key[16], uint8_t constant) {
	for (unsigned i = 0; i < 4; i++)
		key[i] ^= aes_substitute(key[12 + (i + 1) % 4]);
	key[0] ^= constant;
	for (unsigned i = 4; i < 16; i++)
		key[i] ^= key[i - 4];
}

/* MixColumns: each byte becomes the sum of its column's bytes, from its own on, times these factors. */
static inline void aes_mix_columns(uint8_t s[16]) {
	static const uint8_t factors[4] = {2, 3, 1, 1};

	for (unsigned c = 0; c < 16; c += 4) {
		uint8_t column[4];

		memcpy(column, s + c, 4);
		for (unsigned i = 0; i < 4; i++) {
			s[c + i] = 0;
			for (unsigned k = 0; k < 4; k++)
				s[c + i] ^= aes_multiply(column[(i + k) % 4], factors[k]);
		}
	}
}

static inline void aes_encrypt_block(const uint8_t key[16], uint8_t block[16]) {
	uint8_t round_key[16], rows[16], constant = 1;

	memcpy(round_key, key, 16);
	for (unsigned i = 0; i < 16; i++)
		block[i] ^= round_key[i];
	for (unsigned round = 1; round <= 10; round++) {
		for (unsigned i = 0; i < 16;
		     i++) /* ShiftRows: row i % 4 moves left by i % 4 columns */
			rows[i] = aes_substitute(block[(i + 4 * (i % 4)) % 16]);
		memcpy(block, rows, 16);
		if (round < 10)
			aes_mix_columns(block);
		aes_next_key(round_key, constant);
		constant = aes_multiply(constant, 2);
		for (unsigned i = 0; i < 16; i++)
			block[i] ^= round_key[i];
	}
}

/* Encrypts in place: CBC over the full blocks. The residual bytes are XORed with the encryption of the last ciphertext
 * block, or of the IV if there is no full block. */
static inline void bpi_encrypt(const uint8_t key[16], const uint8_t iv[16], uint8_t *data,
			       size_t size) {
	uint8_t chain[16];

	memcpy(chain, iv, 16);
	for (; size >= 16; data += 16, size -= 16) {
		for (unsigned i = 0; i < 16; i++)
			data[i] ^= chain[i];
		aes_encrypt_block(key, data);
		memcpy(chain, data, 16);
	}
	aes_encrypt_block(key, chain);
	for (size_t i = 0; i < size; i++)
		data[i] ^= chain[i];
}
