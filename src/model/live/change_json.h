/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of a group that are prepared and not yet taken, one object after the other, as clients are told of them
 * (docs/control.md, events).
 */
#pragma once

#include <jansson.h>

#include "model/live/difference.h"

enum change_action {
	CHANGE_ADDED,
	CHANGE_CHANGED,
	CHANGE_REMOVED,
	/* Of the key of an association, which all modems with its SAID have: */
	CHANGE_KEY_INSTALLED,
	CHANGE_KEY_USED,
	CHANGE_KEY_REMOVED,
	CHANGE_KEY_CHANGED,
};

struct change_walk {
	const struct live_group *l;
	const struct live_changes *changes;
	uint32_t *ids[LIVE_OBJECTS]; /* by slot: once the changes are taken. NULL: of modems */
	uint8_t *told; /* a bit a SAID: its key was visited */
	size_t next;
	/* What change_walk_next() has come to: */
	const struct live_change *change;
	enum change_action action;
};

/* Returns false without memory. To be given to change_walk_end() in either case. `changes` may not have been taken. */
bool change_walk_begin(struct change_walk *w, const struct live_group *l,
		       const struct live_changes *changes);

/* Goes to the next object; an association's key that several modems have counts as one. False: there is none. */
bool change_walk_next(struct change_walk *w);

/* How many objects it would come to from here on. */
size_t change_walk_count(const struct change_walk *w);

/* "modem", "key", "group", as docs/control.md has the kinds of objects; and the actions. */
const char *change_walk_kind(const struct change_walk *w);
const char *change_action_name(enum change_action action);

/* The value of the object: the new one, of what is removed its identity. The caller owns it; NULL without memory. */
json_t *change_walk_json(const struct change_walk *w, bool secrets);

void change_walk_end(struct change_walk *w);
