/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/snapshot.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "model/live/group_json.h"
#include "model/live/live_kind.h"
#include "model/live/object_json.h"
#include "platform/secret/secret_memory.h"

#define TEXT_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII)
#define FIRST_ITEMS 64
/* Per step: */
#define COPIED_ITEMS 64
#define FREED_ITEMS 256

/* An object by its kind. LIVE_GROUP has a group's single values as JSON; others are copies with IDs
 * as references. */
struct item {
	enum live_object object;
	void *value;
};

/* A group: its single values, and its objects by kind. */
struct part {
	const struct live_group *source; /* NULL: all of it is copied */
	enum live_object object; /* the next kind to copy */
	uint32_t slot; /* the next slot to copy */
	struct item *items;
	size_t count, capacity;
	size_t next; /* the next item to write */
};

struct snapshot {
	bool secrets;
	bool failed; /* a group could not be copied */
	struct part *parts;
	size_t count, capacity;
	size_t next; /* the part to write */
};

struct snapshot *snapshot_create(bool secrets) {
	struct snapshot *s = calloc(1, sizeof(*s));

	if (s != NULL)
		s->secrets = secrets;
	return s;
}

static void item_free(struct item *item) {
	if (item->object == LIVE_GROUP)
		json_decref(item->value);
	else
		secret_free(item->value);
	item->value = NULL;
}

/* Makes space for one more. */
static bool list_grow(void **list, size_t count, size_t *capacity, size_t size) {
	size_t more = *capacity == 0 ? FIRST_ITEMS : 2 * *capacity;
	void *larger;

	if (count < *capacity)
		return true;
	larger = reallocarray(*list, more, size);
	if (larger == NULL)
		return false;
	*list = larger;
	*capacity = more;
	return true;
}

/* Takes ownership of `value`. */
static bool item_add(struct part *p, enum live_object object, void *value) {
	struct item item = {object, value};
	void *items = p->items;

	if (!list_grow(&items, p->count, &p->capacity, sizeof(p->items[0]))) {
		item_free(&item);
		return false;
	}
	p->items = items;
	p->items[p->count++] = item;
	return value != NULL;
}

/* Copies at most `max` objects. Returns false if memory is short. */
static bool part_copy(struct part *p, unsigned max) {
	const struct live_group *l = p->source;
	const struct references ids = object_ids(&l->sg);

	if (p->count == 0 && !item_add(p, LIVE_GROUP, group_single_json(&l->sg)))
		return false;
	for (; p->object < LIVE_OBJECTS; p->object++, p->slot = 0) {
		for (; p->slot < live_capacity(&l->capacity, p->object); p->slot++) {
			if (!group_json_slot_is_used(l, p->object, p->slot))
				continue;
			if (max-- == 0)
				return true;
			if (!item_add(p, p->object,
				      object_copy(p->object, live_item(&l->sg, p->object, p->slot),
						  &ids)))
				return false;
		}
	}
	p->source = NULL;
	return true;
}

bool snapshot_add(struct snapshot *s, const struct live_group *l) {
	void *parts = s->parts;

	if (!list_grow(&parts, s->count, &s->capacity, sizeof(s->parts[0])))
		return false;
	s->parts = parts;
	s->parts[s->count++] = (struct part){.source = l, .object = LIVE_CHANNEL};
	return true;
}

void snapshot_copy(struct snapshot *s, const struct live_group *l) {
	for (size_t p = s->next; p < s->count; p++) {
		if (s->parts[p].source == l)
			s->failed |= !part_copy(&s->parts[p], UINT_MAX);
	}
}

struct writer {
	json_dump_callback_t write;
	void *to;
	bool failed;
};

static void put(struct writer *w, const char *text) {
	w->failed |= w->write(text, strlen(text), w->to) != 0;
}

/* Writes the text before an item: the end of a list and the beginning of the next one. */
static void write_between(const struct snapshot *s, const struct part *p, struct writer *w) {
	enum live_object object = p->items[p->next].object, before;

	if (p->next == 0) {
		put(w, s->next > 0 ? "," : "[");
		return;
	}
	before = p->items[p->next - 1].object;
	if (object == before) {
		put(w, ",");
		return;
	}
	if (before != LIVE_GROUP)
		put(w, "]");
	put(w, ",\"");
	put(w, live_kinds[object].list);
	put(w, "\":[");
}

/* Writes an item; a group without its closing brace. */
static void item_write(const struct snapshot *s, const struct item *item, struct writer *w) {
	json_t *json = item->object == LIVE_GROUP
			       ? json_incref(item->value)
			       : object_copy_json(item->object, item->value, s->secrets);
	char *text = json != NULL ? json_dumps(json, TEXT_FLAGS) : NULL;

	json_decref(json);
	w->failed |= text == NULL;
	if (text == NULL)
		return;
	if (item->object == LIVE_GROUP)
		text[strlen(text) - 1] = '\0';
	put(w, text);
	secret_free(text);
}

/* Writes the next item, or the end of the group. */
static void part_write(struct snapshot *s, struct writer *w) {
	struct part *p = &s->parts[s->next];

	if (p->next < p->count) {
		write_between(s, p, w);
		item_write(s, &p->items[p->next], w);
		item_free(&p->items[p->next++]);
		return;
	}
	put(w, p->items[p->count - 1].object != LIVE_GROUP ? "]}" : "}");
	free(p->items);
	*p = (struct part){0};
	s->next++;
}

bool snapshot_write(struct snapshot *s, json_dump_callback_t write, void *to, bool *failed) {
	struct writer w = {write, to, false};
	bool more = s->next < s->count;

	if (more && !s->failed && s->parts[s->next].source != NULL)
		s->failed = !part_copy(&s->parts[s->next], COPIED_ITEMS);
	else if (more && !s->failed)
		part_write(s, &w);
	else
		put(&w, s->count == 0 ? "[]" : "]");
	*failed = w.failed || s->failed;
	return more && !*failed;
}

/* Frees at most `max` items. Returns their number. */
static unsigned part_free(struct part *p, unsigned max) {
	unsigned n = 0;

	for (; n < max && p->next < p->count; n++)
		item_free(&p->items[p->next++]);
	if (p->next < p->count)
		return n;
	free(p->items);
	*p = (struct part){0};
	return n;
}

bool snapshot_free_part(struct snapshot *s) {
	unsigned left = FREED_ITEMS;

	if (s == NULL)
		return true;
	while (left > 0 && s->next < s->count) {
		left -= part_free(&s->parts[s->next], left);
		s->next += left > 0;
	}
	if (s->next < s->count)
		return false;
	free(s->parts);
	free(s);
	return true;
}

void snapshot_free(struct snapshot *s) {
	while (!snapshot_free_part(s))
		;
}
