/* SPDX-License-Identifier: BSD-3-Clause */
#include "group_defaults.h"

#include <stdlib.h>
#include <string.h>

#include "model/keys/keys.h"
#include "model/load/reader.h"

static void set_default(const struct key *key, char *object);

static void set_map_defaults(const struct key *keys, char *object) {
	for (; keys->name != NULL; keys++)
		set_default(keys, object);
}

static void set_list_defaults(const struct key *list, char *object) {
	char *items = object + list->offset;
	size_t count = *(const size_t *)(const void *)(object + list->count);

	if (!list->fixed)
		memcpy(&items, object + list->offset, sizeof(items));
	/* a test may set a count without items */
	for (size_t i = 0; items != NULL && i < count; i++)
		set_default(list->item, items + i * list->size);
}

static bool is_string(enum kind kind) {
	return kind == KIND_NAME || kind == KIND_PATH || kind == KIND_ENDPOINT ||
	       kind == KIND_DEVICE;
}

/* Whether 0 is a value of this key that a test may have set on purpose. */
static bool zero_is_value(const struct key *key) {
	return key->kind == KIND_BOOL ||
	       (key->kind == KIND_ENUM && choice_name(key->choices, 0) != NULL);
}

static void set_scalar_default(const struct key *key, char *object) {
	static const char zeros[sizeof(struct ip_prefix)];
	struct errors errors = {0};
	struct reader reader = {.errors = &errors, .visits = 1};
	struct key unflagged = *key; /* so that a default does not set the "is configured" flag */
	struct node value = {.type = NODE_SCALAR};

	if (key->fallback == NULL || is_string(key->kind) || zero_is_value(key))
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

static void set_default(const struct key *key, char *object) {
	if (key->optional && (key->flag == 0 || !*(const bool *)(object + key->flag)))
		return;
	if (key->kind == KIND_MAP)
		set_map_defaults(key->keys, object + key->offset);
	else if (key->kind == KIND_LIST)
		set_list_defaults(key, object);
	else
		set_scalar_default(key, object);
}

void service_group_set_defaults(struct service_group *sg) {
	set_map_defaults(service_group_keys, (char *)sg);
}
