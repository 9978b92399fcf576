/* SPDX-License-Identifier: BSD-3-Clause */
/* Decryption and CRC check of DOCSIS frames on the crypto device, in bursts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "modem.h"

#define DECRYPT_BURST 64

struct decryptor {
	struct docsis_crypto *crypto;
	uint16_t queue;
	uint32_t in_flight;
};

/*
 * Submits up to DECRYPT_BURST frames that modems_check() has taken. Returns how many, from the
 * first; the rest finds no operation or no room in the queue before some are collected.
 */
unsigned decrypt_submit(struct decryptor *d, const struct modems *modems, struct rte_mbuf **frames,
			unsigned n);

enum decrypted {
	DECRYPTED_GOOD,
	DECRYPTED_BAD_CRC,
	DECRYPTED_ERROR,
};

/* Collects up to DECRYPT_BURST frames that are done, in the order in which they were submitted. */
unsigned decrypt_collect(struct decryptor *d, struct rte_mbuf **frames, enum decrypted *verdicts);
