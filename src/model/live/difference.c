/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of both sides are matched by lookups, then each pair is compared once. */
#include "model/live/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "model/keys/keys.h"
#include "model/live/keys_same.h"
#include "model/live/live_capacity.h"
#include "model/live/live_index.h"
#include "model/live/live_kind.h"
#include "model/live/object_copy.h"
#include "platform/secret/secret_memory.h"

struct differing {
	const struct live_group *l;
	const struct service_group *next;
	struct live_changes *changes;
	char *why;
	struct arena *arena;
	uint32_t *slots[LIVE_OBJECTS]; /* slots in the live group, by index in `next` */
	bool *stays[LIVE_OBJECTS]; /* by slot: the object is also in `next` */
	struct references references;
	struct group_capacity used; /* capacity that `next` uses */
};

static bool refuse_memory(struct differing *d) {
	snprintf(d->why, LIVE_LINE, "no memory left for a change of %zu modems",
		 d->next->modem_count);
	return false;
}

static bool top_may_differ(const char *list, size_t offset) {
	static const size_t may[] = {
		offsetof(struct service_group, rate_limit),
		offsetof(struct service_group, cpe_timeout_ns),
		offsetof(struct service_group, crypto.provider),
		offsetof(struct service_group, crypto.device),
		offsetof(struct service_group, channels),
		offsetof(struct service_group, upstream_channels),
		offsetof(struct service_group, bonding_groups),
		offsetof(struct service_group, filter_groups),
		offsetof(struct service_group, modems),
	};

	for (size_t i = 0; list == NULL && i < sizeof(may) / sizeof(may[0]); i++) {
		if (may[i] == offset)
			return true;
	}
	return false;
}

/* The slot that an object of the next configuration gets, as `translate`. */
static uint32_t become_slot(const void *context, enum live_object object, uint32_t reference) {
	const struct differing *d = context;

	return d->slots[object][reference];
}

static bool refuse_slots(struct differing *d, enum live_object object, size_t added) {
	const struct live_kind *kind = &live_kinds[object];

	snprintf(d->why, LIVE_LINE,
		 "%s: found %zu objects to add, allowed: as many as slots are free before the "
		 "removed ones are released (capacity %u)",
		 kind->list, added, live_capacity(&d->l->capacity, object));
	return false;
}

/* Assigns a slot to each object of `next`: the slot that it has, or a free one. */
static bool find_slots(struct differing *d, enum live_object object) {
	uint32_t capacity = live_capacity(&d->l->capacity, object),
		 unused = d->l->first_free[object];
	size_t count = live_count(d->next, object), added = 0;
	bool full = false;

	d->slots[object] = arena_alloc(d->arena, count, sizeof(uint32_t));
	d->stays[object] = arena_alloc(d->arena, capacity, sizeof(bool));
	if (d->slots[object] == NULL || d->stays[object] == NULL)
		return refuse_memory(d);
	for (size_t i = 0; i < count; i++) {
		const void *item = live_item(d->next, object, i);
		const struct identity identity = identity_of(object, item);
		uint32_t slot = live_index_find(d->l->index, &identity);

		live_index_count(&d->used, object, item, 1);
		if (slot == IDENTITY_NONE) {
			while (unused < capacity && d->l->blocks[object][unused] != NULL)
				unused++;
			full = full || unused == capacity;
			slot = unused < capacity ? unused++ : 0;
			added++;
		} else {
			d->stays[object][slot] = true;
		}
		d->slots[object][i] = slot;
	}
	if (!full)
		return true;
	return live_capacity_suffices(&d->l->capacity, &d->used, d->why) &&
	       refuse_slots(d, object, added);
}

/* Adds changes for objects that differ, for new objects, or for both. */
static bool add_differing(struct differing *d, enum live_object object, bool differing,
			  bool adding) {
	size_t count = live_count(d->next, object);

	for (size_t i = 0; i < count; i++) {
		uint32_t slot = d->slots[object][i];
		const void *now = d->l->blocks[object][slot];
		void *block;

		if (now != NULL ? !differing : !adding)
			continue;
		block = object_copy(object, live_item(d->next, object, i), &d->references);
		if (block != NULL && now != NULL && object_same(object, now, block))
			secret_free(block);
		else if (block == NULL || !live_changes_add(d->changes, object, slot, block))
			return refuse_memory(d);
	}
	return true;
}

static bool add_removed(struct differing *d, enum live_object object) {
	for (uint32_t i = 0; i < live_capacity(&d->l->capacity, object); i++) {
		if (d->l->blocks[object][i] != NULL && !d->stays[object][i] &&
		    !live_changes_add(d->changes, object, i, NULL))
			return refuse_memory(d);
	}
	return true;
}

static bool add_single_values(struct differing *d) {
	const struct service_group *now = &d->l->sg, *next = d->next;
	struct service_group *block;

	if (now->rate_limit == next->rate_limit && now->cpe_timeout_ns == next->cpe_timeout_ns)
		return true;
	block = calloc(1, sizeof(*block));
	if (block == NULL)
		return refuse_memory(d);
	*block = *now; /* the upstream also reads members that are equal */
	block->rate_limit = next->rate_limit;
	block->cpe_timeout_ns = next->cpe_timeout_ns;
	return live_changes_add(d->changes, LIVE_GROUP, 0, block) || refuse_memory(d);
}

/* Objects that others refer to are added before them and removed after them. */
static bool add_all(struct differing *d) {
	static const enum live_object first[] = {
		LIVE_FILTER_GROUP,
		LIVE_CHANNEL,
		LIVE_UPSTREAM_CHANNEL,
		LIVE_BONDING_GROUP,
	};
	const size_t count = sizeof(first) / sizeof(first[0]);
	bool good = add_single_values(d);

	for (size_t i = 0; good && i < count; i++)
		good = add_differing(d, first[i], true, true);
	good = good && add_removed(d, LIVE_MODEM) && add_differing(d, LIVE_MODEM, true, false) &&
	       add_differing(d, LIVE_MODEM, false, true);
	for (size_t i = count; good && i > 0; i--)
		good = add_removed(d, first[i - 1]);
	return good;
}

static bool find_all(struct differing *d) {
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		if (!find_slots(d, o))
			return false;
	}
	return live_capacity_suffices(&d->l->capacity, &d->used, d->why);
}

/* Whether all values outside of the object lists are equal. A file that names each core, as
 * config.get writes it, equals one whose layout or defaults led to the same cores. */
static bool same_single_values(const struct live_group *l, const struct service_group *next,
			       char why[LIVE_LINE]) {
	struct service_group single = *next;

	if (next->threads.requested.layout == LAYOUT_NONE)
		single.threads.requested = l->sg.threads.requested;
	return keys_same(service_group_keys, &l->sg, &single, top_may_differ, why, LIVE_LINE);
}

bool live_difference(const struct live_group *l, const struct service_group *next,
		     struct live_changes *changes, char why[LIVE_LINE]) {
	struct differing d = {.l = l, .next = next, .changes = changes, .why = why};
	bool good;

	*changes = (struct live_changes){0};
	if (!same_single_values(l, next, why))
		return false;
	d.arena = arena_new();
	d.references = (struct references){become_slot, &d};
	good = d.arena != NULL ? find_all(&d) && add_all(&d) : refuse_memory(&d);
	arena_free(d.arena);
	if (!good)
		live_changes_free(changes);
	return good;
}
