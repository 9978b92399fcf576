/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/terse_json.h"

#include <stdlib.h>
#include <string.h>

#include "model/live/value_json.h"
#include "model/load/reader.h"
#include "model/service_group.h"

/* The structs that tables of keys describe. */
union described {
	struct service_group group;
	struct modem modem;
	struct channel channel;
	struct upstream_channel upstream_channel;
	struct filter_rule rule;
	struct upstream_service_flow upstream_flow;
};

struct terse {
	union described *scratch;
	struct reader reader;
};

/* The default of a scalar as JSON; NULL: it has none. */
static json_t *default_json(struct terse *t, const struct key *key) {
	struct node node = {.type = NODE_SCALAR};

	if (key->fallback == NULL || key->kind == KIND_MAP || key->kind == KIND_LIST)
		return NULL;
	node.text = key->fallback;
	node.length = (uint32_t)strlen(key->fallback);
	*t->scratch = (union described){0};
	reader_read_one(&t->reader, key, &node, t->scratch, NULL);
	return value_json(key, t->scratch);
}

static void remove_defaults(struct terse *t, json_t *map, const struct key *keys);

static void remove_inner(struct terse *t, json_t *value, const struct key *key) {
	json_t *item;
	size_t index;

	if (key->kind == KIND_MAP && key->keys != NULL)
		remove_defaults(t, value, key->keys);
	if (key->kind != KIND_LIST || key->item->kind != KIND_MAP)
		return;
	json_array_foreach(value, index, item) remove_defaults(t, item, key->item->keys);
}

/* Whether a file need not have the value. */
static bool is_needless(struct terse *t, const json_t *value, const struct key *key) {
	json_t *fallback;
	bool same;

	if (key->required)
		return false;
	if (json_is_array(value) || json_is_object(value))
		return json_array_size(value) + json_object_size(value) == 0 && !key->optional;
	fallback = default_json(t, key);
	same = json_equal(value, fallback) == 1;
	json_decref(fallback);
	return same;
}

static void remove_defaults(struct terse *t, json_t *map, const struct key *keys) {
	for (const struct key *key = keys; key->name != NULL; key++) {
		json_t *value = json_object_get(map, key->name);

		if (value == NULL)
			continue;
		remove_inner(t, value, key);
		if (is_needless(t, value, key))
			json_object_del(map, key->name);
	}
}

json_t *terse_json(json_t *map, const struct key *keys) {
	struct errors errors = {.file = ""};
	struct terse t = {
		.scratch = calloc(1, sizeof(*t.scratch)),
		.reader = {.arena = arena_new(), .errors = &errors, .visits = UINT64_MAX},
	};

	if (map != NULL && t.scratch != NULL && t.reader.arena != NULL)
		remove_defaults(&t, map, keys);
	for (size_t i = 0; i < errors.shown_count; i++)
		free(errors.shown[i].text);
	if (map != NULL && (t.scratch == NULL || t.reader.arena == NULL || errors.total > 0)) {
		json_decref(map);
		map = NULL;
	}
	arena_free(t.reader.arena);
	free(t.scratch);
	return map;
}
