/* SPDX-License-Identifier: BSD-3-Clause */
/* Encrypts MAC frames in bursts, in place: the pieces are parts of the buffers that hold the
 * consecutive frames of a grant. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "crypto/crypto.h"

#define UPLINK_PIECES_MAX 1024 /* capacity between two calls of uplink_encrypt() */

/* A byte range to process: writes a CRC over all but the last four bytes into those, then encrypts
 * the bytes after the first `clear` ones. */
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
	uint64_t errors; /* pieces that the provider refused or failed on */
	struct crypto_frame frames[UPLINK_PIECES_MAX];
	/* one mbuf per piece, as the provider processes mbufs */
	struct rte_mbuf views[UPLINK_PIECES_MAX];
};

/* Returns false after a message. The caller frees it with uplink_encryptor_free(), which accepts a
 * zeroed struct. */
bool uplink_encryptor_create(struct uplink_encryptor *e, struct crypto_provider *provider);
void uplink_encryptor_free(struct uplink_encryptor *e);

/* Adds a piece, at most UPLINK_PIECES_MAX. Its bytes and key must stay valid until uplink_encrypt(). */
void uplink_encrypt_add(struct uplink_encryptor *e, const struct uplink_piece *piece);

/* Processes the added pieces. Leaves none in the crypto queue. */
void uplink_encrypt(struct uplink_encryptor *e);
