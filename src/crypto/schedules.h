/* SPDX-License-Identifier: BSD-3-Clause */
/* What intel-ipsec-mb makes of a key: round keys, packed. */
#pragma once

#include "crypto/crypto.h"
#include "crypto/library.h"

#define AES_128_ROUNDS 176u /* bytes of the round keys of one direction */
#define AES_256_ROUNDS 240u

/* Bytes of a schedule. */
size_t schedule_size(enum cipher cipher, enum crypto_direction direction);

/* Makes it of a key of cipher_key_size() bytes. `schedule` is aligned to 16 bytes. */
void schedule_fill(IMB_MGR *m, uint8_t *schedule, enum crypto_direction direction,
		   enum cipher cipher, const uint8_t *key);

/* The round keys of decryption in the schedule of an upstream key of AES; of others nothing that is used. */
static inline const void *schedule_back(const void *schedule, enum cipher cipher) {
	return (const uint8_t *)schedule +
	       (cipher == CIPHER_AES_256 ? AES_256_ROUNDS : AES_128_ROUNDS);
}
