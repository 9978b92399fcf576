/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference for crypto providers: encrypts or decrypts one frame with OpenSSL, and computes its CRC with zlib. */
#pragma once

#include <openssl/evp.h>
#include <zlib.h>

#include "crypto/crypto.h"
#include "wire/bytes.h"

#include "test.h"

static inline void model_cipher(const EVP_CIPHER *mode, bool encrypt, const uint8_t *key,
				const uint8_t *iv, uint8_t *data, size_t size) {
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int done = 0;

	assert_int_equal(EVP_CipherInit_ex(c, mode, NULL, key, iv, encrypt), 1);
	assert_int_equal(EVP_CIPHER_CTX_set_padding(c, 0), 1);
	if (size > 0)
		assert_int_equal(EVP_CipherUpdate(c, data, &done, data, (int)size), 1);
	assert_int_equal(done, size);
	EVP_CIPHER_CTX_free(c);
}

/* BPI+ in place: CBC of whole blocks. The residual block uses CFB, from the last encrypted block or the IV. */
static inline void model_bpi(const struct crypto_key *k, const uint8_t *key, bool encrypt,
			     uint8_t *data, size_t size) {
	/* OpenSSL no longer offers single DES; triple DES with two equal keys is the same */
	const EVP_CIPHER *modes[CIPHERS][2] = {
		[CIPHER_AES_128] = {EVP_aes_128_cbc(), EVP_aes_128_cfb128()},
		[CIPHER_AES_256] = {EVP_aes_256_cbc(), EVP_aes_256_cfb128()},
		[CIPHER_DES] = {EVP_des_ede_cbc(), EVP_des_ede_cfb64()},
	};
	const size_t block = k->cipher == CIPHER_DES ? 8 : 16, whole = size - size % block;
	uint8_t keys[32], last[16];

	memcpy(keys, key, sizeof(keys));
	if (k->cipher == CIPHER_DES)
		memcpy(keys + 8, key, 8);
	memcpy(last, whole > 0 ? data + whole - block : k->iv, block);
	model_cipher(modes[k->cipher][0], encrypt, keys, k->iv, data, whole);
	if (encrypt && whole > 0)
		memcpy(last, data + whole - block, block);
	model_cipher(modes[k->cipher][1], encrypt, keys, last, data + whole, size - whole);
}

/* Processes the frame in `buffer`, a copy of its mbuf's buffer. Returns whether the frame is good; false if the CRC is
 * wrong or the frame is too short for one. */
static inline bool model_frame(enum crypto_direction direction, const struct crypto_frame *f,
			       const uint8_t *key, uint8_t *buffer) {
	const bool crc = (f->parts & CRYPTO_CRC) != 0, down = direction == CRYPTO_DOWNLINK;
	const unsigned size = f->m->data_len;
	uint8_t *data = buffer + f->m->data_off, *pdu = data + f->pdu, *end = data + size - 4;

	if (crc && size < f->pdu + 4u)
		return false;
	if (crc && down)
		store_le32(end, (uint32_t)crc32_z(0, pdu, (size_t)(end - pdu)));
	if ((f->parts & CRYPTO_CIPHER) && f->key->cipher != CIPHER_NONE && size > f->clear)
		model_bpi(f->key, key, down, data + f->clear, size - f->clear);
	return !crc || down ||
	       (end > pdu && load_le32(end) == crc32_z(0, pdu, (size_t)(end - pdu)));
}
