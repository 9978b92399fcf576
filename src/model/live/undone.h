/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the unsaved changes that a reload would undo. */
#pragma once

#include "model/live/unsaved.h"

#define UNDONE_SHOWN 3 /* names in the text; the others are counted */

/* Zeroed: empty. */
struct undone {
	size_t count;
	const struct unsaved_object *last, *shown[UNDONE_SHOWN];
};

/* Adds an object once; NULL adds nothing. */
void undone_add(struct undone *u, const struct unsaved_object *o);

/* Adds those of the objects that the changes of a group would undo. */
void undone_add_changes(struct undone *u, const struct unsaved *unsaved, const struct live_group *l,
			const struct live_changes *changes);

/* Adds a group that the reload would add or remove, with its objects. */
void undone_add_group(struct undone *u, const struct unsaved *unsaved, uint32_t group);

/* Writes the refusal of a reload: the names, and what to do. */
void undone_text(const struct undone *u, char *text, size_t size);
