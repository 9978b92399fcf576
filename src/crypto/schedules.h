/* SPDX-License-Identifier: BSD-3-Clause */
/* Key schedules of intel-ipsec-mb: packed round keys. */
#pragma once

#include "crypto/crypto.h"
#include "crypto/library.h"

#define AES_128_ROUNDS 176u /* bytes of the round keys of one direction */
#define AES_256_ROUNDS 240u

/* Bytes of a schedule. */
size_t schedule_size(enum cipher cipher, enum crypto_direction direction);

/* Expands a key of cipher_key_size() bytes. `schedule` is aligned to 16 bytes. */
void schedule_fill(IMB_MGR *m, uint8_t *schedule, enum crypto_direction direction,
		   enum cipher cipher, const uint8_t *key);

/* The decryption keys of an upstream schedule. AES has separate round keys; a key without cipher
 * has no schedule. */
static inline const void *schedule_back(const void *schedule, enum cipher cipher) {
	switch (cipher) {
	case CIPHER_AES_128: return (const uint8_t *)schedule + AES_128_ROUNDS;
	case CIPHER_AES_256: return (const uint8_t *)schedule + AES_256_ROUNDS;
	default: return schedule;
	}
}
