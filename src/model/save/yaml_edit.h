/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a YAML text: items of lists and values of maps are added, replaced and removed, and all
 * other bytes stay, also comments. */
#pragma once

#include <jansson.h>

#include "model/save/secret_text.h"
#include "model/save/yaml_spans.h"

/* Text that replaces the bytes from `start` to `end`. */
struct yaml_change {
	size_t start, end;
	size_t order; /* of changes with the same start */
	bool own_line; /* begins a line, also after a last line without a line break */
	struct secret_text text;
};

/* A text and its changes. */
struct yaml_edit {
	const char *text;
	size_t size;
	struct arena *arena; /* of the spans */
	struct span *root;
	struct yaml_change *changes;
	size_t count, capacity;
	const char *failed; /* why the text cannot be changed in place; NULL: it can */
};

/* Begins to edit a text, which must outlive `e`. The caller calls yaml_edit_free(). */
void yaml_edit_open(struct yaml_edit *e, const char *text, size_t size);

/* The new contents of a list: of its old items those that stay or are replaced, and then new
 * ones. */
struct yaml_items {
	json_t **values; /* by index of the old list; NULL: it stays as it is */
	bool *removed; /* by index of the old list */
	json_t *added; /* an array */
};

/* Changes the list `list`, which has the items that the file's reader has seen. */
void yaml_edit_list(struct yaml_edit *e, const struct span *list, const struct yaml_items *items);

/* Sets the value of a key in a map, which has the key or gets it at its end. */
void yaml_edit_value(struct yaml_edit *e, const struct span *map, const char *key,
		     const json_t *value);

/* Appends the changed text; the caller has checked `failed`. */
void yaml_edit_write(struct yaml_edit *e, struct secret_text *t);

void yaml_edit_free(struct yaml_edit *e);
