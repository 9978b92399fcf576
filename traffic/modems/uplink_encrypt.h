/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encryption of MAC frames on the crypto device, in bursts. Pieces lie in the buffers in which the
 * frames stand one behind the other as they will be sent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "platform/crypto.h"

#define UPLINK_PIECES_MAX 1024 /* added between two times that all are done */

/* A generation of a modem's key. */
struct uplink_key {
	void *session;
	uint8_t iv[DOCSIS_IV_SIZE];
	uint8_t sequence;
};

/* What is done to a buffer: a CRC over some bytes, written behind them, then the cipher over others. */
struct uplink_piece {
	struct rte_mbuf *buffer;
	const struct uplink_key *key;
	uint16_t crc_at; /* offsets in the buffer */
	uint16_t crc_size; /* 0: no CRC */
	uint16_t cipher_at;
	uint16_t cipher_size;
};

struct uplink_encryptor {
	struct docsis_crypto *crypto;
	uint16_t queue;
	struct uplink_piece pieces[UPLINK_PIECES_MAX];
	unsigned count;
	unsigned submitted;
	unsigned in_flight;
	uint64_t errors; /* pieces that the device refused or failed */
};

static inline void uplink_encrypt_add(struct uplink_encryptor *e,
				      const struct uplink_piece *piece) {
	e->pieces[e->count++] = *piece;
}

/*
 * Goes on with what was added. Returns whether all of it is done; if not, to be called again: the
 * operations that others hold are missing.
 */
bool uplink_encrypt(struct uplink_encryptor *e);

/* Waits for what the device still has. */
void uplink_encrypt_finish(struct uplink_encryptor *e);
