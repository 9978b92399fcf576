/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto_model.h"

#include <endian.h>
#include <string.h>

#include <zlib.h>

#include "plain_aes_inverse.h"
#include "plain_des.h"
#include "wire/bytes.h"

#define AES_BLOCK 16

/* Products with 2, 3, 9, 11, 13, 14, as each byte of a block needs some. */
static uint8_t products[15][256];

static void products_make(void) {
	static const uint8_t by[] = {2, 3, 9, 11, 13, 14};

	for (unsigned i = 0; i < sizeof(by) && products[14][1] == 0; i++) {
		for (unsigned x = 0; x < 256; x++)
			products[by[i]][x] = aes_multiply((uint8_t)x, by[i]);
	}
}

struct model_key {
	unsigned block; /* bytes */
	unsigned rounds; /* of AES; 0: DES */
	uint8_t aes[15][16];
	uint64_t des[16];
};

/* FIPS 197, 5.2: words of four bytes, each from the one before and the one a key's length before. */
static void aes_expand(struct model_key *k, const uint8_t *key, unsigned words) {
	uint8_t *out = k->aes[0], constant = 1;

	k->rounds = words + 6;
	memcpy(out, key, 4 * words);
	for (unsigned i = words; i < 4 * (k->rounds + 1); i++) {
		uint8_t last[4], first = out[4 * (i - 1)];

		memcpy(last, out + 4 * (i - 1), 4);
		if (i % words == 0) {
			memmove(last, last + 1, 3);
			last[3] = first;
		}
		for (unsigned b = 0; b < 4 && (i % words == 0 || (words > 6 && i % words == 4));
		     b++)
			last[b] = aes_substitute(last[b]);
		if (i % words == 0) {
			last[0] ^= constant;
			constant = aes_multiply(constant, 2);
		}
		for (unsigned b = 0; b < 4; b++)
			out[4 * i + b] = out[4 * (i - words) + b] ^ last[b];
	}
}

static struct model_key key_of(enum cipher cipher, const uint8_t *key) {
	struct model_key k = {.block = cipher == CIPHER_DES ? 8 : AES_BLOCK};

	products_make();
	if (cipher == CIPHER_DES)
		des_keys(load_be64(key), k.des);
	else
		aes_expand(&k, key, cipher_key_size(cipher) / 4);
	return k;
}

/* As plain_des.h has it: a block is a block. */
static __attribute__((no_sanitize("address", "undefined"))) void mix(uint8_t s[16],
								     const uint8_t by[4]) {
	for (unsigned c = 0; c < 16; c += 4) {
		uint8_t in[4];

		memcpy(in, s + c, 4);
		for (unsigned i = 0; i < 4; i++) {
			s[c + i] = 0;
			for (unsigned k = 0; k < 4; k++) {
				uint8_t x = in[(i + k) % 4];

				s[c + i] ^= by[k] == 1 ? x : products[by[k]][x];
			}
		}
	}
}

/* Not inlined: gcc 12 would take the end of a block for bytes that were never set. */
static __attribute__((noinline)) void add(uint8_t *to, const uint8_t *from, unsigned size) {
	for (unsigned i = 0; i < size; i++)
		to[i] ^= from[i];
}

static void des_one(const struct model_key *k, uint8_t *s, bool decrypt) {
	uint64_t out = htobe64(des_block(k->des, load_be64(s), decrypt));

	memcpy(s, &out, sizeof(out));
}

static void encrypt_block(const struct model_key *k, uint8_t *s) {
	static const uint8_t by[4] = {2, 3, 1, 1};
	uint8_t rows[16];

	if (k->rounds == 0) {
		des_one(k, s, false);
		return;
	}
	add(s, k->aes[0], 16);
	for (unsigned round = 1; round <= k->rounds; round++) {
		for (unsigned i = 0; i < 16; i++) /* row i % 4 moves left by i % 4 columns */
			rows[i] = aes_substitute(s[(i + 4 * (i % 4)) % 16]);
		memcpy(s, rows, 16);
		if (round < k->rounds)
			mix(s, by);
		add(s, k->aes[round], 16);
	}
}

static void decrypt_block(const struct model_key *k, uint8_t *s) {
	static const uint8_t by[4] = {14, 11, 13, 9};
	uint8_t rows[16];

	if (k->rounds == 0) {
		des_one(k, s, true);
		return;
	}
	add(s, k->aes[k->rounds], 16);
	for (unsigned round = k->rounds; round >= 1; round--) {
		if (round < k->rounds)
			mix(s, by);
		for (unsigned i = 0; i < 16; i++) /* row i % 4 moves right by i % 4 columns */
			rows[(i + 4 * (i % 4)) % 16] = aes_substitute_back(s[i]);
		memcpy(s, rows, 16);
		add(s, k->aes[round - 1], 16);
	}
}

/* BPI+ in place. `iv` has 16 bytes, of which DES takes 8. */
static void cipher_all(enum cipher cipher, enum crypto_direction direction, const uint8_t *key,
		       const uint8_t *iv, uint8_t *data, size_t size) {
	struct model_key k = key_of(cipher, key);
	uint8_t chain[AES_BLOCK], next[AES_BLOCK];

	memcpy(chain, iv, AES_BLOCK);
	for (; size >= k.block; data += k.block, size -= k.block) {
		memcpy(next, data, k.block);
		if (direction == CRYPTO_DOWNLINK) {
			add(data, chain, k.block);
			encrypt_block(&k, data);
			memcpy(chain, data, k.block);
		} else {
			decrypt_block(&k, data);
			add(data, chain, k.block);
			memcpy(chain, next, k.block);
		}
	}
	encrypt_block(&k, chain);
	add(data, chain, (unsigned)size % AES_BLOCK);
}

bool model_frame(enum crypto_direction direction, const struct model_frame *f) {
	bool crc = (f->parts & CRYPTO_CRC) != 0, down = direction == CRYPTO_DOWNLINK;
	uint8_t *pdu = f->data + f->pdu, *end = f->data + f->size - 4;

	if (crc && f->size < f->pdu + 4)
		return false;
	if (crc && down)
		store_le32(end, (uint32_t)crc32_z(0, pdu, (size_t)(end - pdu)));
	if ((f->parts & CRYPTO_CIPHER) && f->cipher != CIPHER_NONE && f->size > f->clear)
		cipher_all(f->cipher, direction, f->key, f->iv, f->data + f->clear,
			   f->size - f->clear);
	return !crc || down ||
	       (end > pdu && load_le32(end) == crc32_z(0, pdu, (size_t)(end - pdu)));
}
