/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of one direction with their schedules in the crypto provider. Equal keys share a schedule, so that a
 * changed configuration needs no new ones for unchanged keys. Used by one thread at a time.
 */
#pragma once

#include <stdint.h>

#include "crypto/crypto.h"

struct key_store {
	struct crypto_provider *crypto;
	enum crypto_direction direction;
	void *tree; /* root of tsearch() */
};

#define STORED_KEY_MAX 32 /* bytes */

struct stored_key {
	uint8_t bytes[STORED_KEY_MAX]; /* bytes of the key, padded with zeros */
	enum cipher cipher;
	void *schedule; /* the crypto provider's. bytes and cipher are the key of the tree */
	uint32_t users;
};

/* Returns the key of cipher_key_size() bytes with its schedule; NULL if the provider or memory has
 * no capacity left. The caller returns it with key_store_put() when no frame uses the schedule. */
struct stored_key *key_store_get(struct key_store *s, enum cipher cipher, const uint8_t *key);

/* Accepts NULL. */
void key_store_put(struct key_store *s, struct stored_key *key);
