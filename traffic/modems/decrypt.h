/* SPDX-License-Identifier: BSD-3-Clause */
/* Decrypts DOCSIS frames and checks their CRC, in bursts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "modems/modem.h"

#define DECRYPT_BURST 64

enum decrypted {
	DECRYPTED_GOOD,
	DECRYPTED_BAD_CRC,
	DECRYPTED_ERROR, /* the crypto provider refused the frame or failed */
	DECRYPTED_NOT, /* neither decryption nor a CRC check was requested */
};

struct decryptor {
	struct crypto_queue *queue;
	bool verifies_crc;
};

/* Returns false after a message. The caller frees it with decryptor_free(), which accepts a zeroed
 * struct. */
bool decryptor_create(struct decryptor *d, struct crypto_provider *provider, bool verifies_crc);
void decryptor_free(struct decryptor *d);

/* Decrypts in place up to DECRYPT_BURST frames that modems_check() has accepted. Writes the result
 * to `decrypted` in the info of each frame. Leaves no frame in the crypto queue. */
void decrypt(struct decryptor *d, struct rte_mbuf **frames, unsigned n);
