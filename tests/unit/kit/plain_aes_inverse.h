/* SPDX-License-Identifier: BSD-3-Clause */
/* The way back of plain_aes.h: FIPS 197's inverse cipher, and BPI+ decryption as SEC tells it. */
#pragma once

#include "plain_aes.h"

static inline uint8_t aes_substitute_back(uint8_t x) {
	static uint8_t box[256];
	static int made;

	for (unsigned i = 0; !made && i < 256; i++)
		box[aes_substitute((uint8_t)i)] = (uint8_t)i;
	made = 1;
	return box[x];
}

static inline void aes_decrypt_block(const uint8_t key[16], uint8_t block[16]) {
	uint8_t keys[11][16], rows[16], constant = 1;

	memcpy(keys[0], key, 16);
	for (unsigned round = 1; round <= 10; round++) {
		memcpy(keys[round], keys[round - 1], 16);
		aes_next_key(keys[round], constant);
		constant = aes_multiply(constant, 2);
	}
	for (unsigned i = 0; i < 16; i++)
		block[i] ^= keys[10][i];
	for (unsigned round = 10; round >= 1; round--) {
		if (round < 10)
			aes_mix_columns(block, (const uint8_t[]){14, 11, 13, 9});
		for (unsigned i = 0; i < 16; i++) /* row i % 4 moves right by i % 4 columns */
			rows[(i + 4 * (i % 4)) % 16] = aes_substitute_back(block[i]);
		for (unsigned i = 0; i < 16; i++)
			block[i] = rows[i] ^ keys[round - 1][i];
	}
}

static inline void bpi_decrypt(const uint8_t key[16], const uint8_t iv[16], uint8_t *data,
			       size_t size) {
	uint8_t chain[16], next[16];

	memcpy(chain, iv, 16);
	for (; size >= 16; data += 16, size -= 16) {
		memcpy(next, data, 16);
		aes_decrypt_block(key, data);
		for (unsigned i = 0; i < 16; i++)
			data[i] ^= chain[i];
		memcpy(chain, next, 16);
	}
	aes_encrypt_block(key, chain);
	for (size_t i = 0; i < size; i++)
		data[i] ^= chain[i];
}
