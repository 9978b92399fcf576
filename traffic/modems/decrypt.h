/* SPDX-License-Identifier: BSD-3-Clause */
/* Decryption and CRC check of DOCSIS frames, in bursts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "modems/modem.h"

#define DECRYPT_BURST 64

enum decrypted {
	DECRYPTED_GOOD,
	DECRYPTED_BAD_CRC,
	DECRYPTED_ERROR, /* the provider refused it or failed */
	DECRYPTED_NOT, /* it was not asked for */
};

struct decryptor {
	struct crypto_queue *queue;
	bool verifies_crc;
};

/* Returns false after a message. To be freed by decryptor_free(), which is harmless on a zeroed one. */
bool decryptor_create(struct decryptor *d, struct crypto_provider *provider, bool verifies_crc);
void decryptor_free(struct decryptor *d);

/*
 * Decrypts up to DECRYPT_BURST frames that modems_check() has taken, in place, and notes in the info of
 * each what became of it. Nothing remains in the queue.
 */
void decrypt(struct decryptor *d, struct rte_mbuf **frames, unsigned n);
