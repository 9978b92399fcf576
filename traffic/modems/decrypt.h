/* SPDX-License-Identifier: BSD-3-Clause */
/* Decryption and CRC check of DOCSIS frames on the crypto device, in bursts. */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

#include "modems/modem.h"

#define DECRYPT_BURST 64

enum decrypted {
	DECRYPTED_GOOD,
	DECRYPTED_BAD_CRC,
	DECRYPTED_ERROR, /* the device refused it or failed */
	DECRYPTED_NOT, /* it was not asked for */
};

struct decryptor {
	struct docsis_crypto *crypto;
	uint16_t queue;
};

/*
 * Decrypts up to DECRYPT_BURST frames that modems_check() has taken, in place, and notes in the info of
 * each what became of it. Nothing remains on the device.
 */
void decrypt(struct decryptor *d, struct rte_mbuf **frames, unsigned n);
