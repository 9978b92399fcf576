/* SPDX-License-Identifier: BSD-3-Clause */
/* Ciphers, keys and security associations of modems (SEC). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SG_MAX_SAID 0x3fff

enum cipher {
	CIPHER_NONE, /* CRC only, EN = 0 */
	CIPHER_AES_128,
	CIPHER_AES_256,
	CIPHER_DES, /* single, 56 bits */
	CIPHERS
};

#define CIPHER_MAX_KEY 32 /* bytes */
#define CIPHER_MAX_IV 16

/* Bytes of a key. */
static inline unsigned cipher_key_size(enum cipher cipher) {
	static const uint8_t sizes[CIPHERS] = {
		[CIPHER_AES_128] = 16, [CIPHER_AES_256] = 32, [CIPHER_DES] = 8};

	return sizes[cipher];
}

/* Bytes of an initialisation vector, which is as long as a block. */
static inline unsigned cipher_iv_size(enum cipher cipher) {
	static const uint8_t sizes[CIPHERS] = {
		[CIPHER_AES_128] = 16, [CIPHER_AES_256] = 16, [CIPHER_DES] = 8};

	return sizes[cipher];
}

struct security_association {
	uint16_t said; /* 14 bits */
	enum cipher cipher;
	/* Bytes that the cipher does not use are zero. */
	uint8_t key[CIPHER_MAX_KEY];
	uint8_t iv[CIPHER_MAX_IV];
	uint8_t key_sequence; /* 4 bits; its lowest bit is the toggle */
	/* The key generation with sequence number key_sequence + 1, which modems may already
	 * use. */
	bool has_next_key;
	bool use_next_key; /* downstream frames use it, too */
	uint8_t next_key[CIPHER_MAX_KEY];
	uint8_t next_iv[CIPHER_MAX_IV];
};

#define ASSOCIATION_SEQUENCES 16 /* number of key sequence numbers; 0 follows the last one */

/* The key generation of downstream frames. */
static inline const uint8_t *association_key(const struct security_association *sa) {
	return sa->use_next_key ? sa->next_key : sa->key;
}

static inline const uint8_t *association_iv(const struct security_association *sa) {
	return sa->use_next_key ? sa->next_iv : sa->iv;
}

static inline uint8_t association_sequence(const struct security_association *sa) {
	return (uint8_t)((sa->key_sequence + sa->use_next_key) % ASSOCIATION_SEQUENCES);
}

/* The crypto provider of a group. */
enum crypto_choice {
	CRYPTO_IPSEC_MB, /* the library, called directly */
	CRYPTO_CRYPTODEV, /* a DPDK crypto device */
};

struct crypto_config {
	enum crypto_choice provider;
	char *device; /* DPDK's device string for CRYPTO_CRYPTODEV; else NULL */
	/* generate the CRC of downstream frames; false: send four zero bytes instead */
	bool generate_crc;
};
