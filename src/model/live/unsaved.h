/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that requests have changed in service since the configuration file was loaded or saved. A
 * reload of the file would undo these changes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/live/difference.h"

#define UNSAVED_NAME 128 /* bytes of a name with its method */

enum unsaved_action { UNSAVED_ADDED, UNSAVED_CHANGED, UNSAVED_REMOVED };

struct unsaved_object {
	uint32_t group; /* ID of its service group */
	enum live_object object; /* LIVE_GROUP: single values; LIVE_OBJECTS: the group as a whole */
	uint64_t key; /* its MAC address as a number, or its ID */
	enum unsaved_action action; /* compared with the file */
	const char *method; /* the last method that changed it, a literal */
};

/* A sorted list without duplicates. Zeroed: empty. */
struct unsaved {
	struct unsaved_object *list;
	size_t count, capacity;
};

/* Makes space for `more` further objects. Returns false if memory is short. */
bool unsaved_reserve(struct unsaved *u, size_t more);

/* Adds the objects of changes that are not applied to `l` yet. The caller has reserved space. */
void unsaved_add(struct unsaved *u, const struct live_group *l, const struct live_changes *changes,
		 const char *method);

/* Adds a whole group and forgets its objects; with reserved space for one. */
void unsaved_add_group(struct unsaved *u, uint32_t group, enum unsaved_action action,
		       const char *method);

/* The entry of the object of a change, or of its whole group; NULL: the file has the object as it is
 * in service. `l` is the group of the change, which is not applied. */
const struct unsaved_object *unsaved_find(const struct unsaved *u, const struct live_group *l,
					  const struct live_change *c);
const struct unsaved_object *unsaved_find_group(const struct unsaved *u, uint32_t group);

/* Whether two objects of a kind have the same MAC address or ID. */
bool unsaved_same_object(enum live_object object, const void *a, const void *b);

/* The name of the kind: "modem", "upstream channel", "service group", .. */
const char *unsaved_kind(const struct unsaved_object *o);
/* The name of the action: "added", "changed", "removed". */
const char *unsaved_action_name(enum unsaved_action action);

/* Writes, for people: "modem 02:00:00:00:00:01". */
void unsaved_text(const struct unsaved_object *o, char *text, size_t size);

/* Writes, for people: "modem 02:00:00:00:00:01 of service group 1 (added by modem.add)". */
void unsaved_name(const struct unsaved_object *o, char text[UNSAVED_NAME]);

/* Empties the list and frees its memory. */
void unsaved_clear(struct unsaved *u);
