/* SPDX-License-Identifier: BSD-3-Clause */
#include "group_defaults.h"

#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"
#include "model/load/reader.h"

static void key_default(const struct key *key, char *object);

static void keys_default(const struct key *keys, char *object) {
	for (; keys->name != NULL; keys++)
		key_default(keys, object);
}

static void items_default(const struct key *list, char *object) {
	char *items = object + list->offset;
	size_t count = *(const size_t *)(const void *)(object + list->count);

	if (!list->fixed)
		memcpy(&items, object + list->offset, sizeof(items));
	/* a test may count items that nothing reads */
	for (size_t i = 0; items != NULL && i < count; i++)
		key_default(list->item, items + i * list->size);
}

static bool is_text(enum kind kind) {
	return kind == KIND_NAME || kind == KIND_PATH || kind == KIND_ENDPOINT ||
	       kind == KIND_DEVICE;
}

/* Whether a zero of this key may be what the test means. */
static bool zero_is_meant(const struct key *key) {
	return key->kind == KIND_BOOL ||
	       (key->kind == KIND_ENUM && choice_name(key->choices, 0) != NULL);
}

static void value_default(const struct key *key, char *object) {
	static const char zeros[sizeof(struct ip_prefix)];
	struct errors errors = {0};
	struct reader reader = {.errors = &errors, .visits = 1};
	struct key unflagged = *key; /* a default does not say that the key was given */
	struct node value = {.type = NODE_SCALAR};

	if (key->fallback == NULL || is_text(key->kind) || zero_is_meant(key))
		return;
	if (key->size > sizeof(zeros))
		abort();
	if (memcmp(object + key->offset, zeros, key->size) != 0)
		return;
	unflagged.flag = 0;
	value.text = key->fallback;
	value.length = (uint32_t)strlen(key->fallback);
	reader_read_one(&reader, &unflagged, &value, object, NULL);
	if (errors.total != 0)
		abort();
}

static void key_default(const struct key *key, char *object) {
	if (key->optional && (key->flag == 0 || !*(const bool *)(object + key->flag)))
		return;
	if (key->kind == KIND_MAP)
		keys_default(key->keys, object + key->offset);
	else if (key->kind == KIND_LIST)
		items_default(key, object);
	else
		value_default(key, object);
}

void service_group_defaults(struct service_group *sg) {
	keys_default(service_group_keys, (char *)sg);
}
