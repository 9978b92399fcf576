/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "model/live/group_json.h"
#include "model/live/live_kind.h"
#include "model/live/object_json.h"
#include "secret/secret_memory.h"

#define TEXT_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII)
#define FREED_ITEMS 256 /* at a time */

/* An object by its kind, LIVE_GROUP being a group's single values, as JSON; others are copies with ids as references. */
struct item {
	enum live_object object;
	void *value;
};

struct snapshot {
	bool secrets;
	struct item *items; /* a group, its objects by kind, the next group */
	size_t count, capacity;
	size_t next; /* to be written */
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

/* Takes `value` over. */
static bool item_add(struct snapshot *s, enum live_object object, void *value) {
	struct item item = {object, value};

	if (s->count == s->capacity) {
		size_t capacity = s->capacity == 0 ? 256 : 2 * s->capacity;
		struct item *items = reallocarray(s->items, capacity, sizeof(items[0]));

		if (items == NULL) {
			item_free(&item);
			return false;
		}
		s->items = items;
		s->capacity = capacity;
	}
	s->items[s->count++] = item;
	return value != NULL;
}

bool snapshot_add(struct snapshot *s, const struct live_group *l) {
	const struct references ids = object_ids(&l->sg);

	if (!item_add(s, LIVE_GROUP, group_single_json(&l->sg)))
		return false;
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t slot = 0; slot < live_room(&l->room, o); slot++) {
			if (group_json_is_there(l, o, slot) &&
			    !item_add(s, o, object_copy(o, live_item(&l->sg, o, slot), &ids)))
				return false;
		}
	}
	return true;
}

struct writer {
	json_dump_callback_t write;
	void *to;
	bool failed;
};

static void put(struct writer *w, const char *text) {
	w->failed |= w->write(text, strlen(text), w->to) != 0;
}

/* What stands before an item: the ends of a list and of a group, the beginning of a list. */
static void write_between(const struct snapshot *s, struct writer *w) {
	enum live_object object = s->items[s->next].object;
	enum live_object before = s->next > 0 ? s->items[s->next - 1].object : object;

	if (s->next > 0 && object == before && object != LIVE_GROUP) {
		put(w, ",");
		return;
	}
	if (before != LIVE_GROUP)
		put(w, "]");
	if (object == LIVE_GROUP) {
		put(w, s->next > 0 ? "}," : "[");
		return;
	}
	put(w, ",\"");
	put(w, live_kinds[object].list);
	put(w, "\":[");
}

/* A group is written without the brace that ends it. */
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

static void write_end(const struct snapshot *s, struct writer *w) {
	if (s->count == 0)
		put(w, "[]");
	else
		put(w, s->items[s->count - 1].object != LIVE_GROUP ? "]}]" : "}]");
}

bool snapshot_write(struct snapshot *s, json_dump_callback_t write, void *to, bool *failed) {
	struct writer w = {write, to, false};
	bool more = s->next < s->count;

	if (more) {
		write_between(s, &w);
		item_write(s, &s->items[s->next], &w);
		item_free(&s->items[s->next++]);
	} else {
		write_end(s, &w);
	}
	*failed = w.failed;
	return more && !w.failed;
}

bool snapshot_free_part(struct snapshot *s) {
	if (s == NULL)
		return true;
	for (unsigned n = 0; n < FREED_ITEMS && s->next < s->count; n++)
		item_free(&s->items[s->next++]);
	if (s->next < s->count)
		return false;
	free(s->items);
	free(s);
	return true;
}

void snapshot_free(struct snapshot *s) {
	while (!snapshot_free_part(s))
		;
}
