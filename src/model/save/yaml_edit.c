/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/save/yaml_edit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/save/yaml_text.h"

#define NO_MEMORY "no memory left"
/* added to the order of a new key: it follows new items of the map's last list */
#define LATER (SIZE_MAX / 2)
#define STEP 2 /* columns of an inner level */

void yaml_edit_open(struct yaml_edit *e, const char *text, size_t size) {
	*e = (struct yaml_edit){.text = text, .size = size, .arena = arena_new()};
	if (e->arena != NULL)
		e->root = yaml_spans(e->arena, text, size);
	if (e->root == NULL)
		e->failed = NO_MEMORY;
}

static void fail(struct yaml_edit *e, const char *why) {
	if (e->failed == NULL)
		e->failed = why;
}

/* Adds a change, whose text the caller fills; NULL after a failure. */
static struct secret_text *change(struct yaml_edit *e, size_t start, size_t end) {
	if (e->failed != NULL)
		return NULL;
	if (e->count == e->capacity) {
		size_t capacity = e->capacity > 0 ? 2 * e->capacity : 16;
		struct yaml_change *changes =
			reallocarray(e->changes, capacity, sizeof(changes[0]));

		if (changes == NULL) {
			fail(e, NO_MEMORY);
			return NULL;
		}
		e->changes = changes;
		e->capacity = capacity;
	}
	e->changes[e->count] = (struct yaml_change){.start = start, .end = end, .order = e->count};
	return &e->changes[e->count++].text;
}

static size_t line_start(const struct yaml_edit *e, size_t at) {
	while (at > 0 && e->text[at - 1] != '\n')
		at--;
	return at;
}

/* After the line break of the line; the size of the text if it has none. */
static size_t line_end(const struct yaml_edit *e, size_t at) {
	while (at < e->size && e->text[at] != '\n')
		at++;
	return at + (at < e->size);
}

static size_t column(const struct yaml_edit *e, size_t at) {
	return at - line_start(e, at);
}

static size_t first_character(const struct yaml_edit *e, size_t line) {
	while (line < e->size && e->text[line] == ' ')
		line++;
	return line;
}

/* The dash of an item of a block list: the first character of the item's line, or of a line before
 * it with only comments in between. */
static size_t dash_of(struct yaml_edit *e, const struct span *item) {
	size_t line = line_start(e, item->start), at = first_character(e, line);
	bool inside = at == item->start;

	while (inside && line > 0) {
		line = line_start(e, line - 1);
		at = first_character(e, line);
		inside = strchr("#\r\n", e->text[at]) != NULL;
	}
	if (e->text[at] != '-')
		fail(e, "a list has another item in the line of its dash");
	return at;
}

/* Begins new lines after the one at `end`. */
static struct secret_text *lines_after(struct yaml_edit *e, size_t end) {
	size_t at = line_end(e, end);
	struct secret_text *t = change(e, at, at);

	if (t != NULL)
		e->changes[e->count - 1].own_line = true;
	return t;
}

static void put_item(struct secret_text *t, const json_t *value, size_t indent) {
	secret_text_spaces(t, indent);
	secret_text_puts(t, "- ");
	yaml_text_block(t, value, indent + STEP);
	secret_text_puts(t, "\n");
}

/* Adds items after the last one. Without any item left, the list is empty: []. */
static void block_append(struct yaml_edit *e, const struct span *last, const json_t *added,
			 bool all_removed) {
	size_t indent = column(e, dash_of(e, last));
	struct secret_text *t;

	if (json_array_size(added) == 0 && !all_removed)
		return;
	t = lines_after(e, last->end);
	if (t == NULL)
		return;
	for (size_t i = 0; i < json_array_size(added); i++)
		put_item(t, json_array_get(added, i), indent);
	if (json_array_size(added) == 0) {
		secret_text_spaces(t, indent > 0 ? indent : STEP);
		secret_text_puts(t, "[]\n");
	}
}

static void block_list(struct yaml_edit *e, const struct span *list,
		       const struct yaml_items *items) {
	const struct span *last = list->first;
	bool all_removed = true;
	size_t i = 0;

	for (const struct span *item = list->first; item != NULL; item = item->next, i++) {
		struct secret_text *t;
		size_t dash = dash_of(e, item);

		last = item;
		all_removed = all_removed && items->removed[i];
		if (items->removed[i]) {
			change(e, line_start(e, dash), line_end(e, item->end));
		} else if (items->values[i] != NULL) {
			t = change(e, item->start, item->end);
			if (t != NULL)
				yaml_text_block(t, items->values[i], column(e, item->start));
		}
	}
	block_append(e, last, items->added, all_removed);
}

static bool has_comment(const struct yaml_edit *e, size_t start, size_t end) {
	return memchr(e->text + start, '#', end - start) != NULL;
}

/* Writes the whole list again, with the text of items that stay. */
static void flow_list(struct yaml_edit *e, const struct span *list,
		      const struct yaml_items *items) {
	struct secret_text *t = change(e, list->start, list->end);
	const char *before = "[";
	size_t i = 0, at = list->start;

	for (const struct span *item = list->first; t != NULL && item != NULL;
	     item = item->next, i++) {
		if (has_comment(e, at, item->start))
			fail(e, "a comment is inside of the brackets of a list");
		at = item->end;
		if (items->removed[i])
			continue;
		secret_text_puts(t, before);
		before = ", ";
		if (items->values[i] != NULL)
			yaml_text_flow(t, items->values[i]);
		else
			secret_text_put(t, e->text + item->start, item->end - item->start);
	}
	for (i = 0; t != NULL && i < json_array_size(items->added); i++) {
		secret_text_puts(t, before);
		before = ", ";
		yaml_text_flow(t, json_array_get(items->added, i));
	}
	if (t != NULL)
		secret_text_puts(t, *before == '[' ? "[]" : "]");
}

void yaml_edit_list(struct yaml_edit *e, const struct span *list, const struct yaml_items *items) {
	if (list->type != SPAN_LIST)
		fail(e, "a list is an alias");
	else if (list->flow)
		flow_list(e, list, items);
	else
		block_list(e, list, items);
}

/* Adds a key at the end of a map. */
static void key_append(struct yaml_edit *e, const struct span *map, const char *key,
		       const json_t *value) {
	struct secret_text *t;
	size_t indent;

	if (map->flow) {
		t = change(e, map->end - 1, map->end - 1);
		if (t == NULL)
			return;
		secret_text_puts(t, map->first != NULL ? ", " : "");
		secret_text_puts(t, key);
		secret_text_puts(t, ": ");
		yaml_text_flow(t, value);
		return;
	}
	indent = column(e, map->start);
	t = lines_after(e, map->end);
	if (t == NULL)
		return;
	e->changes[e->count - 1].order += LATER;
	secret_text_spaces(t, indent);
	secret_text_puts(t, key);
	secret_text_puts(t, json_is_array(value) ? ":\n" : ": ");
	if (!json_is_array(value)) {
		yaml_text_flow(t, value);
		secret_text_puts(t, "\n");
	}
	for (size_t i = 0; i < json_array_size(value); i++)
		put_item(t, json_array_get(value, i), indent + STEP);
}

void yaml_edit_value(struct yaml_edit *e, const struct span *map, const char *key,
		     const json_t *value) {
	const struct span *old = span_value(map, key);
	struct secret_text *t;

	if (map->type != SPAN_MAP) {
		fail(e, "a map is an alias");
	} else if (old == NULL) {
		key_append(e, map, key, value);
	} else {
		t = change(e, old->start, old->end);
		if (t != NULL)
			yaml_text_flow(t, value);
	}
}

static int by_start(const void *a, const void *b) {
	const struct yaml_change *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* text that is added at a position comes before a removal that begins there */
	if ((x->start == x->end) != (y->start == y->end))
		return x->start == x->end ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void yaml_edit_write(struct yaml_edit *e, struct secret_text *t) {
	size_t at = 0;

	if (e->count > 0)
		qsort(e->changes, e->count, sizeof(e->changes[0]), by_start);
	for (size_t i = 0; i < e->count; i++) {
		const struct yaml_change *c = &e->changes[i];

		t->failed = t->failed || c->text.failed || c->start < at;
		if (t->failed)
			return;
		secret_text_put(t, e->text + at, c->start - at);
		if (c->own_line && t->size > 0 && t->at[t->size - 1] != '\n')
			secret_text_puts(t, "\n");
		if (c->text.size > 0)
			secret_text_put(t, c->text.at, c->text.size);
		at = c->end;
	}
	secret_text_put(t, e->text + at, e->size - at);
}

void yaml_edit_free(struct yaml_edit *e) {
	for (size_t i = 0; i < e->count; i++)
		secret_text_free(&e->changes[i].text);
	free(e->changes);
	arena_free(e->arena);
	*e = (struct yaml_edit){0};
}
