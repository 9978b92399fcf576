/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/undone.h"

#include <stdio.h>

void undone_add(struct undone *u, const struct unsaved_object *o) {
	if (o == NULL || o == u->last)
		return;
	if (u->count < UNDONE_SHOWN)
		u->shown[u->count] = o;
	u->last = o;
	u->count++;
}

void undone_add_changes(struct undone *u, const struct unsaved *unsaved, const struct live_group *l,
			const struct live_changes *changes) {
	if (unsaved->count == 0)
		return;
	for (size_t i = 0; i < changes->count; i++)
		undone_add(u, unsaved_find(unsaved, l, &changes->list[i]));
}

void undone_add_group(struct undone *u, const struct unsaved *unsaved, uint32_t group) {
	for (size_t i = 0; i < unsaved->count; i++) {
		if (unsaved->list[i].group == group)
			undone_add(u, &unsaved->list[i]);
	}
}

void undone_text(const struct undone *u, char *text, size_t size) {
	char name[UNSAVED_NAME];
	size_t used;

	used = (size_t)snprintf(text, size, "the reload would undo %zu change%s: ", u->count,
				u->count == 1 ? "" : "s");
	for (size_t i = 0; i < u->count && i < UNDONE_SHOWN && used < size; i++) {
		unsaved_name(u->shown[i], name);
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", name);
	}
	if (u->count > UNDONE_SHOWN && used < size)
		used += (size_t)snprintf(text + used, size - used, " and %zu more",
					 u->count - UNDONE_SHOWN);
	if (used < size)
		snprintf(text + used, size - used,
			 "; config.save keeps changes in the file, config.reload with force=true "
			 "undoes them");
}
