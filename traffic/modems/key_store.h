/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Crypto sessions of one direction, one a key: who has the same key has the same session, so that what
 * follows a configuration that changes needs none for what stays. Used by one thread at a time.
 */
#pragma once

#include <stdint.h>

#include "platform/crypto.h"

struct key_store {
	struct docsis_crypto *crypto;
	enum crypto_direction direction;
	void *tree; /* of tsearch() */
};

struct stored_key {
	uint8_t bytes[16];
	void *session;
	uint32_t users;
};

/* The key with its session; NULL when there is no session left, or no memory. To be given back with
 * key_store_give() once the session is not used any more. */
struct stored_key *key_store_take(struct key_store *s, const uint8_t key[16]);

/* Harmless on NULL. */
void key_store_give(struct key_store *s, struct stored_key *key);
