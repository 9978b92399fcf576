/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/change_json.h"

#include <stdlib.h>
#include <string.h>

#include "model/live/live_kind.h"
#include "model/live/object_json.h"
#include "platform/secret/secret_memory.h"

#define SAID_BYTES (SG_MAX_SAID / 8 + 1)

static uint32_t id_of(const void *item) {
	uint32_t id;

	memcpy(&id, item, sizeof(id)); /* the first field of all objects but modems */
	return id;
}

/* Lists the IDs of objects in service, then those of changed objects. */
static bool ids_list(struct change_walk *w, enum live_object object) {
	uint32_t slots = live_capacity(&w->l->capacity, object);

	w->ids[object] = calloc(slots > 0 ? slots : 1, sizeof(w->ids[object][0]));
	if (w->ids[object] == NULL)
		return false;
	for (uint32_t slot = 0; slot < slots; slot++)
		w->ids[object][slot] = id_of(live_item(&w->l->sg, object, slot));
	for (size_t i = 0; i < w->changes->count; i++) {
		const struct live_change *c = &w->changes->list[i];

		if (c->object == object && c->next != NULL)
			w->ids[object][c->slot] = id_of(c->next);
	}
	return true;
}

bool change_walk_begin(struct change_walk *w, const struct live_group *l,
		       const struct live_changes *changes) {
	bool good = true;

	*w = (struct change_walk){.l = l, .changes = changes, .visited = calloc(1, SAID_BYTES)};
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_MODEM; o++)
		good &= ids_list(w, o);
	return good && w->visited != NULL;
}

void change_walk_end(struct change_walk *w) {
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_MODEM; o++)
		free(w->ids[o]);
	free(w->visited);
	*w = (struct change_walk){0};
}

/* The object before the change; NULL: there is none. */
static const void *before_of(const struct change_walk *w, const struct live_change *c) {
	return w->l->blocks[c->object][c->slot];
}

static enum change_action action_of(const struct change_walk *w, const struct live_change *c) {
	if (c->object == LIVE_GROUP)
		return CHANGE_CHANGED;
	if (c->next == NULL)
		return CHANGE_REMOVED;
	return before_of(w, c) != NULL ? CHANGE_CHANGED : CHANGE_ADDED;
}

static enum change_action key_action(const struct security_association *before,
				     const struct security_association *next) {
	if (!before->has_next_key && next->has_next_key)
		return CHANGE_KEY_INSTALLED;
	if (!before->use_next_key && next->use_next_key)
		return CHANGE_KEY_USED;
	if (before->use_next_key && !next->has_next_key)
		return CHANGE_KEY_REMOVED;
	return CHANGE_KEY_CHANGED;
}

/* Whether a modem differs only in the values of its security association. */
static bool is_own_key_change(const struct change_walk *w, const struct live_change *c) {
	const struct modem *before = before_of(w, c);
	struct modem with_next;

	if (c->object != LIVE_MODEM || before == NULL || c->next == NULL ||
	    before->security.said != c->modem->security.said ||
	    memcmp(&before->security, &c->modem->security, sizeof(before->security)) == 0)
		return false;
	with_next = *before;
	with_next.security = c->modem->security;
	return object_same(LIVE_MODEM, &with_next, c->modem);
}

/* Returns whether this is the first visit of the SAID. */
static bool said_visit(struct change_walk *w, uint16_t said) {
	uint8_t bit = (uint8_t)(1u << (said % 8)), *byte = &w->visited[said / 8];
	bool fresh = (*byte & bit) == 0;

	*byte |= bit;
	return fresh;
}

bool change_walk_next(struct change_walk *w) {
	while (w->next < w->changes->count) {
		const struct live_change *c = &w->changes->list[w->next++];
		const struct modem *before;

		w->change = c;
		w->action = action_of(w, c);
		if (!is_own_key_change(w, c))
			return true;
		if (!said_visit(w, c->modem->security.said))
			continue;
		before = before_of(w, c);
		w->action = key_action(&before->security, &c->modem->security);
		return true;
	}
	return false;
}

size_t change_walk_count(const struct change_walk *w) {
	struct change_walk ahead = *w;
	size_t count = 0;

	ahead.visited = malloc(SAID_BYTES);
	if (ahead.visited == NULL)
		return 0;
	memcpy(ahead.visited, w->visited, SAID_BYTES);
	while (change_walk_next(&ahead))
		count++;
	free(ahead.visited);
	return count;
}

static bool is_key_change(const struct change_walk *w) {
	return w->action >= CHANGE_KEY_INSTALLED;
}

const char *change_walk_kind(const struct change_walk *w) {
	if (is_key_change(w))
		return "key";
	return w->change->object == LIVE_GROUP ? "group" : live_kinds[w->change->object].item;
}

const char *change_action_name(enum change_action action) {
	static const char *const names[] = {
		[CHANGE_ADDED] = "added",	  [CHANGE_CHANGED] = "changed",
		[CHANGE_REMOVED] = "removed",	  [CHANGE_KEY_INSTALLED] = "installed",
		[CHANGE_KEY_USED] = "used",	  [CHANGE_KEY_REMOVED] = "removed",
		[CHANGE_KEY_CHANGED] = "changed",
	};

	return names[action];
}

static uint32_t translate_next_id(const void *context, enum live_object object,
				  uint32_t reference) {
	const struct change_walk *w = context;

	return w->ids[object][reference];
}

json_t *change_walk_json(const struct change_walk *w, bool secrets) {
	const struct references ids = {translate_next_id, w};
	const struct live_change *c = w->change;
	void *copy;
	json_t *map;

	if (is_key_change(w))
		return object_security_json(c->modem, secrets);
	if (c->object == LIVE_GROUP)
		return object_values_json(c->group);
	if (c->next == NULL)
		return object_identity_json(c->object, before_of(w, c));
	copy = object_copy(c->object, c->next, &ids);
	if (copy == NULL)
		return NULL;
	map = object_copy_json(c->object, copy, secrets);
	secret_free(copy);
	return map;
}
