/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/reported_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/units.h"

static const struct key no_more[] = {{0}};

static size_t count_keys(const struct key *keys) {
	size_t count = 0;

	while (keys[count].name != NULL)
		count++;
	return count;
}

/* The key of this name, or the end of the table. */
static const struct key *find_key(const struct key *keys, const char *name) {
	while (keys->name != NULL && strcmp(keys->name, name) != 0)
		keys++;
	return keys;
}

/* If a range of ports has its default, all ports, the response omits it. */
static bool always_reported(const struct key *key) {
	bool valued = key->fallback != NULL && !key->conditional && key->kind != KIND_PORTS;

	return key->required || key->derived || key->kind == KIND_LIST || valued;
}

/* A file may write a value with a unit or a name; a response reports the number. */
static bool report_number(struct arena *arena, struct key *key) {
	char text[UNITS_TEXT_SIZE];
	uint64_t bytes;

	if (key->kind == KIND_PROTOCOL)
		key->max = UINT8_MAX;
	key->kind = KIND_INTEGER;
	if (key->example == NULL || !units_parse_size(key->example, &bytes))
		return true;
	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	key->example = arena_text(arena, text, strlen(text));
	return key->example != NULL;
}

static bool report_item(struct arena *arena, struct key *key, const struct key *more) {
	struct key *item = arena_alloc(arena, 1, sizeof(*item));

	if (item == NULL)
		return false;
	*item = *key->item;
	item->keys = reported_keys(arena, item->keys, more);
	key->item = item;
	return item->keys != NULL;
}

/* Adapts a key for the new table. `more`: further keys of the items of a list. */
static bool report_key(struct arena *arena, struct key *key, const struct key *more) {
	key->required = always_reported(key);
	if (key->example == NULL)
		key->example = key->fallback;
	key->fallback = NULL;
	if (key->kind == KIND_SIZE || key->kind == KIND_PROTOCOL)
		return report_number(arena, key);
	if (key->kind == KIND_MAP)
		key->keys = reported_keys(arena, key->keys, no_more);
	if (key->kind == KIND_LIST && key->item->kind == KIND_MAP)
		return report_item(arena, key, more);
	return key->kind != KIND_MAP || key->keys != NULL;
}

const struct key *reported_keys(struct arena *arena, const struct key *keys,
				const struct key *more) {
	struct key *table =
		arena_alloc(arena, count_keys(keys) + count_keys(more) + 1, sizeof(*table));
	struct key *out = table;

	if (table == NULL)
		return NULL;
	for (const struct key *key = keys; key->name != NULL; key++) {
		const struct key *same = find_key(more, key->name);

		if (key->secret)
			continue;
		*out = *key;
		if (!report_key(arena, out++, same->name != NULL ? same->item->keys : no_more))
			return NULL;
	}
	for (const struct key *key = more; key->name != NULL; key++) {
		if (find_key(keys, key->name)->name == NULL)
			*out++ = *key;
	}
	return table;
}
