/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of one direction as the crypto provider has them: who has the same key has the same schedule, so that what
 * follows a configuration that changes needs none for what stays. Used by one thread at a time.
 */
#pragma once

#include <stdint.h>

#include "crypto/crypto.h"

struct key_store {
	struct crypto_provider *crypto;
	enum crypto_direction direction;
	void *tree; /* of tsearch() */
};

#define STORED_KEY_MAX 32 /* bytes */

struct stored_key {
	uint8_t bytes[STORED_KEY_MAX]; /* as many as the cipher has, then zeros */
	enum cipher cipher;
	void *schedule; /* those above tell it apart */
	uint32_t users;
};

/* The key of cipher_key_size() bytes, with its schedule; NULL when there is no place or no memory left. To be given back with
 * key_store_give() once the schedule is not used any more. */
struct stored_key *key_store_take(struct key_store *s, enum cipher cipher, const uint8_t *key);

/* Harmless on NULL. */
void key_store_give(struct key_store *s, struct stored_key *key);
