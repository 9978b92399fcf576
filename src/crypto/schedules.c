/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/schedules.h"

#include <string.h>

/* For AES, decryption keys follow the encryption keys: BPI+ encrypts in the last block even when
 * decrypting. */
size_t schedule_size(enum cipher cipher, enum crypto_direction direction) {
	static const size_t one[CIPHERS] = {
		[CIPHER_AES_128] = AES_128_ROUNDS,
		[CIPHER_AES_256] = AES_256_ROUNDS,
		[CIPHER_DES] = IMB_DES_KEY_SCHED_SIZE,
	};

	return direction == CRYPTO_UPLINK && cipher != CIPHER_DES ? 2 * one[cipher] : one[cipher];
}

void schedule_fill(IMB_MGR *m, uint8_t *schedule, enum crypto_direction direction,
		   enum cipher cipher, const uint8_t *key) {
	/* Keys of a direction that is not needed. */
	uint8_t unused[AES_256_ROUNDS] __attribute__((aligned(16)));
	uint8_t *inverse = direction == CRYPTO_UPLINK
				   ? schedule + schedule_size(cipher, CRYPTO_DOWNLINK)
				   : unused;

	if (cipher == CIPHER_AES_128)
		IMB_AES_KEYEXP_128(m, key, schedule, inverse);
	else if (cipher == CIPHER_AES_256)
		IMB_AES_KEYEXP_256(m, key, schedule, inverse);
	else
		IMB_DES_KEYSCHED(m, (uint64_t *)schedule, key);
	explicit_bzero(unused, sizeof(unused));
}
