/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of changes: builds, applies, frees and describes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/live/difference.h"
#include "model/live/live_index.h"
#include "model/live/live_kind.h"
#include "platform/secret/secret_memory.h"

bool live_changes_add(struct live_changes *changes, enum live_object object, uint32_t slot,
		      void *block) {
	if (changes->count == changes->capacity) {
		size_t capacity = changes->capacity > 0 ? 2 * changes->capacity : 4;
		struct live_change *list = reallocarray(changes->list, capacity, sizeof(list[0]));

		if (list == NULL) {
			secret_free(block);
			return false;
		}
		changes->list = list;
		changes->capacity = capacity;
	}
	changes->list[changes->count++] =
		(struct live_change){.object = object, .slot = slot, .next = block};
	return true;
}

void live_changes_free(struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++)
		secret_free(changes->list[i].block);
	free(changes->list);
	*changes = (struct live_changes){0};
}

/* Exchanges the single values with those in the block. */
static void swap_single_values(struct service_group *sg, struct service_group *block) {
	const struct service_group before = {
		.rate_limit = sg->rate_limit,
		.cpe_timeout_ns = sg->cpe_timeout_ns,
	};

	sg->rate_limit = block->rate_limit;
	sg->cpe_timeout_ns = block->cpe_timeout_ns;
	block->rate_limit = before.rate_limit;
	block->cpe_timeout_ns = before.cpe_timeout_ns;
}

static void swap_object(struct live_group *l, struct live_change *c) {
	void **slot = &l->blocks[c->object][c->slot], *before = *slot;
	uint32_t *first_free = &l->first_free[c->object];

	*slot = c->block;
	if (*slot != NULL)
		memcpy(live_item(&l->sg, c->object, c->slot), *slot, live_kinds[c->object].size);
	else
		live_clear(&l->sg, c->object, c->slot);
	c->block = before;
	if (*slot == NULL && c->slot < *first_free)
		*first_free = c->slot;
	while (*first_free < live_capacity(&l->capacity, c->object) &&
	       l->blocks[c->object][*first_free] != NULL)
		++*first_free;
}

/* Removes all changed objects from the index before it adds any, as a value may move between
 * objects. */
void live_changes_apply(struct live_group *l, struct live_changes *changes) {
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];

		if (c->object != LIVE_GROUP && l->blocks[c->object][c->slot] != NULL)
			live_index_remove(l->index, c->object, l->blocks[c->object][c->slot],
					  c->slot);
	}
	for (size_t i = 0; i < changes->count; i++) {
		struct live_change *c = &changes->list[i];

		if (c->object == LIVE_GROUP)
			swap_single_values(&l->sg, c->block);
		else
			swap_object(l, c);
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];

		if (c->object != LIVE_GROUP && l->blocks[c->object][c->slot] != NULL)
			live_index_add(l->index, c->object, l->blocks[c->object][c->slot], c->slot);
	}
	l->modems = l->index->used.modems;
	changes->applied = true;
}

enum { ADDED, DIFFERS, REMOVED, WAYS };

/* Before a change is applied, the slot of an added object is empty. Afterwards the slot has the
 * object and `next` is NULL. */
static unsigned way_of(const struct live_group *l, const struct live_change *c, bool applied) {
	bool exists;

	if (c->object == LIVE_GROUP)
		return DIFFERS;
	exists = l->blocks[c->object][c->slot] != NULL;
	if (exists && c->next != NULL)
		return DIFFERS;
	return exists == applied ? ADDED : REMOVED;
}

void live_changes_text(const struct live_group *l, const struct live_changes *changes, char *text,
		       size_t size) {
	static const char *const ways[WAYS] = {"added", "changed", "removed"};
	size_t counts[LIVE_OBJECTS][WAYS] = {0}, used = 0;

	snprintf(text, size, "nothing");
	for (size_t i = 0; i < changes->count; i++) {
		const struct live_change *c = &changes->list[i];

		counts[c->object][way_of(l, c, changes->applied)]++;
	}
	for (unsigned i = LIVE_OBJECTS * WAYS; i > 0; i--) { /* modems first */
		enum live_object object = (i - 1) / WAYS;
		unsigned way = WAYS - 1 - (i - 1) % WAYS;
		const char *name = object == LIVE_GROUP ? "limit" : live_kinds[object].name;
		size_t count = counts[object][way];

		if (count > 0 && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%zu %s%s %s",
						 used > 0 ? ", " : "", count, name,
						 count == 1 ? "" : "s", ways[way]);
	}
}

void live_change_name(const struct live_group *l, const struct live_change *c, char *text,
		      size_t size) {
	if (c->object == LIVE_GROUP)
		snprintf(text, size, "limits");
	else
		live_name(c->object, c->next != NULL ? c->next : l->blocks[c->object][c->slot],
			  text, size);
}
