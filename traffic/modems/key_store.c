/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of keys with counts of users: equal keys share one schedule of the crypto provider. */
#include "modems/key_store.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int keys_compare(const void *a, const void *b) {
	return memcmp(a, b, offsetof(struct stored_key, schedule));
}

static struct stored_key *stored_key_create(struct key_store *s, const struct stored_key *wanted) {
	struct stored_key *key = malloc(sizeof(*key));

	if (key == NULL)
		return NULL;
	*key = *wanted;
	key->schedule = crypto_key_make(s->crypto, s->direction, key->cipher, key->bytes);
	if (key->schedule != NULL && tsearch(key, &s->tree, keys_compare) != NULL)
		return key;
	crypto_key_free(s->crypto, s->direction, key->cipher, key->schedule);
	free(key);
	return NULL;
}

struct stored_key *key_store_get(struct key_store *s, enum cipher cipher, const uint8_t *bytes) {
	struct stored_key wanted = {.cipher = cipher}, **known, *key;

	memcpy(wanted.bytes, bytes, cipher_key_size(cipher));
	known = tfind(&wanted, &s->tree, keys_compare);
	key = known != NULL ? *known : stored_key_create(s, &wanted);
	if (key != NULL)
		key->users++;
	return key;
}

void key_store_put(struct key_store *s, struct stored_key *key) {
	if (key == NULL || --key->users > 0)
		return;
	tdelete(key, &s->tree, keys_compare);
	crypto_key_free(s->crypto, s->direction, key->cipher, key->schedule);
	free(key);
}
