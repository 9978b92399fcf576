/* SPDX-License-Identifier: BSD-3-Clause */
#include "modems/key_store.h"

#include <search.h>
#include <stdlib.h>

static int keys_compare(const void *a, const void *b) {
	return memcmp(a, b, sizeof(((const struct stored_key *)a)->bytes));
}

static struct stored_key *stored_key_create(struct key_store *s, const uint8_t bytes[16]) {
	struct stored_key *key = calloc(1, sizeof(*key));

	if (key == NULL)
		return NULL;
	memcpy(key->bytes, bytes, sizeof(key->bytes));
	key->session = crypto_session(s->crypto, s->direction, bytes);
	if (key->session != NULL && tsearch(key, &s->tree, keys_compare) != NULL)
		return key;
	if (key->session != NULL)
		crypto_session_free(s->crypto, key->session);
	free(key);
	return NULL;
}

struct stored_key *key_store_take(struct key_store *s, const uint8_t bytes[16]) {
	struct stored_key **known = tfind(bytes, &s->tree, keys_compare);
	struct stored_key *key = known != NULL ? *known : stored_key_create(s, bytes);

	if (key != NULL)
		key->users++;
	return key;
}

void key_store_give(struct key_store *s, struct stored_key *key) {
	if (key == NULL || --key->users > 0)
		return;
	tdelete(key, &s->tree, keys_compare);
	crypto_session_free(s->crypto, key->session);
	free(key);
}
