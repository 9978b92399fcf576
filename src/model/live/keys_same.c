/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/keys_same.h"

#include <stdio.h>
#include <string.h>

#include "model/errors.h"

struct comparison {
	keys_may_differ *may_differ;
	char *why;
	size_t size;
};

/* The position of compared keys: in an item of a list or at the top, and their offset. */
struct position {
	const char *list;
	size_t offset;
	const struct path *path;
};

static size_t print_path(const struct path *path, char *text, size_t size) {
	size_t used = path->up != NULL ? print_path(path->up, text, size) : 0;
	const char *dot = path->up != NULL ? "." : "";

	if (used >= size)
		return size;
	text += used;
	size -= used;
	return used + (size_t)(path->key == NULL ? snprintf(text, size, "[%zu]", path->index)
						 : snprintf(text, size, "%s%s", dot, path->key));
}

static bool differs(struct comparison *c, const struct path *path, const char *what) {
	size_t used = print_path(path, c->why, c->size);

	if (used < c->size)
		snprintf(c->why + used, c->size - used,
			 ": %s; this setting changes only at a restart", what);
	return false;
}

static bool compare_map(struct comparison *c, const struct key *keys,
			const struct position *position, const char *a, const char *b);

static bool same_text(const char *a, const char *b) {
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static const char *pointer_at(const char *field) {
	const char *pointer;

	memcpy(&pointer, field, sizeof(const char *));
	return pointer;
}

static bool compare_list(struct comparison *c, const struct key *key, const struct path *path,
			 const char *a, const char *b) {
	struct path item = {.up = path};
	size_t counts[2];

	memcpy(&counts[0], a + key->count, sizeof(counts[0]));
	memcpy(&counts[1], b + key->count, sizeof(counts[1]));
	if (counts[0] != counts[1])
		return differs(c, path, "has another length");
	a = key->fixed ? a + key->offset : pointer_at(a + key->offset);
	b = key->fixed ? b + key->offset : pointer_at(b + key->offset);
	for (; item.index < counts[0]; item.index++) {
		size_t offset = item.index * key->size;
		struct position position = {.list = key->name, .path = &item};

		if (key->item != NULL && key->item->kind == KIND_MAP) {
			if (!compare_map(c, key->item->keys, &position, a + offset, b + offset))
				return false;
		} else if (memcmp(a + offset, b + offset, key->size) != 0) {
			return differs(c, &item, "differs");
		}
	}
	return true;
}

/* Compares one key of the structs at `a` and `b`. */
static bool compare_key(struct comparison *c, const struct key *key,
			const struct position *position, const char *a, const char *b) {
	struct path path = {.up = position->path, .key = key->name};
	struct position inner = {position->list, position->offset + key->offset, &path};
	const char *field[2] = {a + key->offset, b + key->offset};
	bool same;

	if (key->kind == KIND_MAP)
		return compare_map(c, key->keys, &inner, field[0], field[1]);
	if (key->kind == KIND_LIST || key->kind == KIND_CORES)
		return compare_list(c, key, &path, a, b);
	if (key->kind == KIND_NAME || key->kind == KIND_DEVICE) {
		same = same_text(pointer_at(field[0]), pointer_at(field[1]));
	} else {
		same = memcmp(field[0], field[1], key->kind == KIND_TOS ? 2 : key->size) == 0;
	}
	if (key->flag != 0)
		same = same && a[key->flag] == b[key->flag];
	return same || differs(c, &path, "differs");
}

static bool compare_map(struct comparison *c, const struct key *keys,
			const struct position *position, const char *a, const char *b) {
	for (const struct key *key = keys; key->name != NULL; key++) {
		/* a map has the offset of its first key */
		bool is_value = key->kind != KIND_MAP;

		if (is_value && c->may_differ(position->list, position->offset + key->offset))
			continue;
		if (!compare_key(c, key, position, a, b))
			return false;
	}
	return true;
}

bool keys_same(const struct key *keys, const void *a, const void *b, keys_may_differ *may_differ,
	       char *why, size_t size) {
	struct comparison c = {may_differ, why, size};
	struct position top = {0};

	return compare_map(&c, keys, &top, a, b);
}
