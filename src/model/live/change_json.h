/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterates over changes of a group that are prepared and not applied yet, in the form in which
 * clients are notified of them (docs/control.md, events). */
#pragma once

#include <jansson.h>

#include "model/live/difference.h"

enum change_action {
	CHANGE_ADDED,
	CHANGE_CHANGED,
	CHANGE_REMOVED,
	/* Of the key of a security association, which all modems with its SAID share: */
	CHANGE_KEY_INSTALLED,
	CHANGE_KEY_USED,
	CHANGE_KEY_REMOVED,
	CHANGE_KEY_CHANGED,
};

struct change_walk {
	const struct live_group *l;
	const struct live_changes *changes;
	/* IDs by slot, once the changes are applied; NULL for modems */
	uint32_t *ids[LIVE_OBJECTS];
	uint8_t *visited; /* one bit per SAID: its key was visited */
	size_t next;
	/* The current object, set by change_walk_next(): */
	const struct live_change *change;
	enum change_action action;
};

/* Returns false if memory is short. The caller calls change_walk_end() in either case. `changes`
 * must not have been applied. */
bool change_walk_begin(struct change_walk *w, const struct live_group *l,
		       const struct live_changes *changes);

/* Advances to the next object; an association's key that several modems share counts as one.
 * Returns false at the end. */
bool change_walk_next(struct change_walk *w);

/* The number of objects from here on. */
size_t change_walk_count(const struct change_walk *w);

/* The kind of the object as in docs/control.md, "modem", "key", "group"; and the name of an
 * action. */
const char *change_walk_kind(const struct change_walk *w);
const char *change_action_name(enum change_action action);

/* The new value of the object, or the identity of a removed one. The caller owns it; NULL if memory
 * is short. */
json_t *change_walk_json(const struct change_walk *w, bool secrets);

void change_walk_end(struct change_walk *w);
