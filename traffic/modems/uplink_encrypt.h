/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encryption of MAC frames, in bursts. Pieces lie in the buffers in which the frames stand one behind the other as they
 * will be sent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "crypto/crypto.h"

#define UPLINK_PIECES_MAX 1024 /* added between two times that all are done */

/* What is done to some bytes: a CRC over all but the last four, written there, then the cipher over those behind
 * `clear`. */
struct uplink_piece {
	uint8_t *data;
	const struct crypto_key *key;
	uint16_t size;
	uint16_t clear;
	bool has_crc;
};

struct uplink_encryptor {
	struct crypto_queue *queue;
	unsigned count;
	uint64_t errors; /* pieces that the provider refused or failed */
	struct crypto_frame frames[UPLINK_PIECES_MAX];
	struct rte_mbuf views[UPLINK_PIECES_MAX]; /* a provider takes mbufs: one on each piece */
};

/* Returns false after a message. To be freed by uplink_encryptor_free(), which is harmless on a zeroed one. */
bool uplink_encryptor_create(struct uplink_encryptor *e, struct crypto_provider *provider);
void uplink_encryptor_free(struct uplink_encryptor *e);

void uplink_encrypt_add(struct uplink_encryptor *e, const struct uplink_piece *piece);

/* Does what was added. Nothing remains in the queue. */
void uplink_encrypt(struct uplink_encryptor *e);
