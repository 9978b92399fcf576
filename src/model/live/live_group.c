/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/live_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "model/devices.h"
#include "model/live/live_capacity.h"
#include "model/live/live_index.h"
#include "model/live/live_kind.h"
#include "model/live/object_copy.h"
#include "platform/secret/secret_memory.h"

/* Allocates the slots of one kind, all free. */
static bool list_new(struct live_group *l, enum live_object object) {
	const struct live_kind *kind = &live_kinds[object];
	uint32_t slots = live_capacity(&l->capacity, object);
	void *items = arena_alloc(l->sg.arena, slots, kind->size);
	size_t count = slots;

	l->blocks[object] = arena_alloc(l->sg.arena, slots, sizeof(void *));
	if (items == NULL || l->blocks[object] == NULL)
		return false;
	memcpy((char *)&l->sg + kind->items, &items, sizeof(items));
	memcpy((char *)&l->sg + kind->count, &count, sizeof(count));
	for (size_t i = 0; i < count; i++)
		live_clear(&l->sg, object, i);
	return true;
}

/* Returns false if memory is short. `*text` may be NULL. */
static bool text_copy(struct arena *arena, char **text) {
	if (*text == NULL)
		return true;
	*text = arena_text(arena, *text, strlen(*text));
	return *text != NULL;
}

/* Copies the values outside of the lists. */
static bool single_values_copy(struct live_group *l, const struct service_group *sg) {
	struct thread_request *requested = &l->sg.threads.requested;
	struct arena *arena = l->sg.arena;

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		if (!text_copy(arena, device_of_port(&l->sg, role)))
			return false;
	}
	if (!text_copy(arena, &l->sg.name) || !text_copy(arena, &l->sg.crypto.device))
		return false;
	requested->cores = arena_alloc(arena, requested->core_count, sizeof(requested->cores[0]));
	if (requested->cores == NULL)
		return false;
	if (requested->core_count > 0)
		memcpy(requested->cores, sg->threads.requested.cores,
		       requested->core_count * sizeof(requested->cores[0]));
	return true;
}

static bool objects_copy(struct live_group *l, const struct service_group *sg,
			 enum live_object object) {
	uint32_t count = (uint32_t)live_count(sg, object);

	for (uint32_t i = 0; i < count; i++) {
		void *block = object_copy(object, live_item(sg, object, i), NULL);

		if (block == NULL)
			return false;
		l->blocks[object][i] = block;
		memcpy(live_item(&l->sg, object, i), block, live_kinds[object].size);
		live_index_add(l->index, object, block, i);
		l->first_free[object] = i + 1;
	}
	return true;
}

static bool create(struct live_group *l, const struct service_group *sg) {
	l->sg = *sg;
	l->sg.arena = arena_new();
	if (l->sg.arena == NULL || !single_values_copy(l, sg))
		return false;
	l->index = live_index_new(l->sg.arena, &l->capacity);
	if (l->index == NULL)
		return false;
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		if (!list_new(l, o))
			return false;
	}
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		if (!objects_copy(l, sg, o))
			return false;
	}
	l->modems = l->index->used.modems;
	return true;
}

const struct modem *modem_by_mac(const struct service_group *sg, const uint8_t mac[6]) {
	for (size_t m = 0; m < sg->modem_count; m++) {
		if (modem_exists(&sg->modems[m]) && memcmp(sg->modems[m].mac, mac, 6) == 0)
			return &sg->modems[m];
	}
	return NULL;
}

int live_group_create(struct live_group *l, const struct service_group *sg,
		      const struct group_capacity *capacity, char why[LIVE_LINE]) {
	const struct group_capacity used = group_capacity_exact(sg);

	*l = (struct live_group){.capacity = *capacity};
	if (!live_capacity_suffices(capacity, &used, why))
		return -1;
	if (create(l, sg))
		return 0;
	snprintf(why, LIVE_LINE, "no memory left");
	return -1;
}

void live_group_free(struct live_group *l) {
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t i = 0; l->blocks[o] != NULL && i < live_capacity(&l->capacity, o);
		     i++)
			secret_free(l->blocks[o][i]);
	}
	arena_free(l->sg.arena);
	*l = (struct live_group){0};
}
