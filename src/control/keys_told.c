/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/keys_told.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/units.h"

static const struct key no_more[] = {{0}};

static size_t rows_of(const struct key *keys) {
	size_t rows = 0;

	while (keys[rows].name != NULL)
		rows++;
	return rows;
}

/* The key of this name, or the end of the table. */
static const struct key *row_of(const struct key *keys, const char *name) {
	while (keys->name != NULL && strcmp(keys->name, name) != 0)
		keys++;
	return keys;
}

/* A list of ports has a default, but is not reported while it covers all ports. */
static bool always_told(const struct key *key) {
	bool valued = key->fallback != NULL && !key->beside && key->kind != KIND_PORTS;

	return key->required || key->follows || key->kind == KIND_LIST || valued;
}

/* Values that a file may write with a unit or a name are reported as numbers. */
static bool tell_number(struct arena *arena, struct key *key) {
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

static bool tell_item(struct arena *arena, struct key *key, const struct key *more) {
	struct key *item = arena_alloc(arena, 1, sizeof(*item));

	if (item == NULL)
		return false;
	*item = *key->item;
	item->keys = keys_told(arena, item->keys, more);
	key->item = item;
	return item->keys != NULL;
}

/* Adapts a key for the new table. `more`: further keys of the items of a list. */
static bool tell(struct arena *arena, struct key *key, const struct key *more) {
	key->required = always_told(key);
	if (key->example == NULL)
		key->example = key->fallback;
	key->fallback = NULL;
	if (key->kind == KIND_SIZE || key->kind == KIND_PROTOCOL)
		return tell_number(arena, key);
	if (key->kind == KIND_MAP)
		key->keys = keys_told(arena, key->keys, no_more);
	if (key->kind == KIND_LIST && key->item->kind == KIND_MAP)
		return tell_item(arena, key, more);
	return key->kind != KIND_MAP || key->keys != NULL;
}

const struct key *keys_told(struct arena *arena, const struct key *keys, const struct key *more) {
	struct key *table = arena_alloc(arena, rows_of(keys) + rows_of(more) + 1, sizeof(*table));
	struct key *row = table;

	if (table == NULL)
		return NULL;
	for (const struct key *key = keys; key->name != NULL; key++) {
		const struct key *same = row_of(more, key->name);

		if (key->secret)
			continue;
		*row = *key;
		if (!tell(arena, row++, same->name != NULL ? same->item->keys : no_more))
			return NULL;
	}
	for (const struct key *key = more; key->name != NULL; key++) {
		if (row_of(keys, key->name)->name == NULL)
			*row++ = *key;
	}
	return table;
}
