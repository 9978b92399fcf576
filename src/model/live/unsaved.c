/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/unsaved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/live/live_kind.h"
#include "model/units.h"

#define FIRST_CAPACITY 16

static int compare(const struct unsaved_object *a, const struct unsaved_object *b) {
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* The index of the first entry that is not less. */
static size_t lower_bound(const struct unsaved *u, const struct unsaved_object *o) {
	size_t low = 0, high = u->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&u->list[middle], o) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool unsaved_reserve(struct unsaved *u, size_t more) {
	size_t capacity = u->capacity > 0 ? u->capacity : FIRST_CAPACITY;
	struct unsaved_object *list;

	while (capacity < u->count + more)
		capacity *= 2;
	if (capacity == u->capacity)
		return true;
	list = reallocarray(u->list, capacity, sizeof(list[0]));
	if (list == NULL)
		return false;
	u->list = list;
	u->capacity = capacity;
	return true;
}

static void erase(struct unsaved *u, size_t from, size_t count) {
	memmove(&u->list[from], &u->list[from + count],
		(u->count - from - count) * sizeof(u->list[0]));
	u->count -= count;
}

/* Joins an earlier change and a later one of the same object. Returns false if the object is absent
 * as in the file. */
static bool join(struct unsaved_object *before, const struct unsaved_object *o) {
	if (before->action == UNSAVED_ADDED && o->action == UNSAVED_REMOVED)
		return false;
	if (before->action == UNSAVED_ADDED)
		return true; /* still not in the file */
	before->action = o->action == UNSAVED_REMOVED ? UNSAVED_REMOVED : UNSAVED_CHANGED;
	before->method = o->method;
	return true;
}

static void add(struct unsaved *u, const struct unsaved_object *o) {
	size_t at = lower_bound(u, o);

	if (at < u->count && compare(&u->list[at], o) == 0) {
		if (!join(&u->list[at], o))
			erase(u, at, 1);
		return;
	}
	memmove(&u->list[at + 1], &u->list[at], (u->count - at) * sizeof(u->list[0]));
	u->list[at] = *o;
	u->count++;
}

/* The MAC address as a number, or the ID. */
static uint64_t key_of(enum live_object object, const void *item) {
	const uint8_t *mac = ((const struct modem *)item)->mac;
	uint64_t key = 0;
	uint32_t id;

	if (object != LIVE_MODEM) {
		memcpy(&id, item, sizeof(id)); /* the first field of all kinds but modems */
		return id;
	}
	for (size_t i = 0; i < sizeof(((const struct modem *)item)->mac); i++)
		key = key << 8 | mac[i];
	return key;
}

bool unsaved_same_object(enum live_object object, const void *a, const void *b) {
	return key_of(object, a) == key_of(object, b);
}

/* The object of a change that is not applied to `l` yet. */
static struct unsaved_object object_of(const struct live_group *l, const struct live_change *c) {
	struct unsaved_object o = {.group = l->sg.id, .object = c->object};
	const void *before;

	o.action = UNSAVED_CHANGED;
	if (c->object == LIVE_GROUP)
		return o;
	before = l->blocks[c->object][c->slot];
	o.key = key_of(c->object, c->next != NULL ? c->next : before);
	if (before == NULL)
		o.action = UNSAVED_ADDED;
	else if (c->next == NULL)
		o.action = UNSAVED_REMOVED;
	return o;
}

void unsaved_add(struct unsaved *u, const struct live_group *l, const struct live_changes *changes,
		 const char *method) {
	for (size_t i = 0; i < changes->count; i++) {
		struct unsaved_object o = object_of(l, &changes->list[i]);

		o.method = method;
		add(u, &o);
	}
}

void unsaved_add_group(struct unsaved *u, uint32_t group, enum unsaved_action action,
		       const char *method) {
	const struct unsaved_object first = {.group = group}, whole = {.group = group,
								       .object = LIVE_OBJECTS,
								       .action = action,
								       .method = method};
	size_t from = lower_bound(u, &first);

	erase(u, from, lower_bound(u, &whole) - from);
	add(u, &whole);
}

static const struct unsaved_object *find(const struct unsaved *u, const struct unsaved_object *o) {
	size_t at = lower_bound(u, o);

	return at < u->count && compare(&u->list[at], o) == 0 ? &u->list[at] : NULL;
}

const struct unsaved_object *unsaved_find_group(const struct unsaved *u, uint32_t group) {
	const struct unsaved_object whole = {.group = group, .object = LIVE_OBJECTS};

	return find(u, &whole);
}

const struct unsaved_object *unsaved_find(const struct unsaved *u, const struct live_group *l,
					  const struct live_change *c) {
	const struct unsaved_object *whole = unsaved_find_group(u, l->sg.id);
	const struct unsaved_object o = object_of(l, c);

	return whole != NULL ? whole : find(u, &o);
}

const char *unsaved_action_name(enum unsaved_action action) {
	static const char *const names[] = {"added", "changed", "removed"};

	return names[action];
}

const char *unsaved_kind(const struct unsaved_object *o) {
	if (o->object == LIVE_OBJECTS)
		return "service group";
	return o->object == LIVE_GROUP ? "limits" : live_kinds[o->object].name;
}

void unsaved_text(const struct unsaved_object *o, char *text, size_t size) {
	uint64_t id = o->object == LIVE_OBJECTS ? o->group : o->key;
	char value[UNITS_TEXT_SIZE] = "";
	uint8_t mac[6];

	for (size_t i = 0; i < sizeof(mac); i++)
		mac[i] = (uint8_t)(o->key >> (8 * (sizeof(mac) - 1 - i)));
	if (o->object == LIVE_MODEM)
		units_format_mac(mac, value);
	else if (o->object != LIVE_GROUP)
		snprintf(value, sizeof(value), "%" PRIu64, id);
	snprintf(text, size, "%s%s%s", unsaved_kind(o), value[0] != '\0' ? " " : "", value);
}

void unsaved_name(const struct unsaved_object *o, char text[UNSAVED_NAME]) {
	char name[64], group[48] = "";

	unsaved_text(o, name, sizeof(name));
	if (o->object != LIVE_OBJECTS)
		snprintf(group, sizeof(group), " of service group %" PRIu32, o->group);
	snprintf(text, UNSAVED_NAME, "%s%s (%s by %s)", name, group, unsaved_action_name(o->action),
		 o->method);
}

void unsaved_clear(struct unsaved *u) {
	free(u->list);
	*u = (struct unsaved){0};
}
