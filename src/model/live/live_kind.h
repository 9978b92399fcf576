/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of objects that a group in service has in lists. */
#pragma once

#include "model/live/live_group.h"

struct live_kind {
	const char *name; /* for people: "bonding group" */
	const char *list; /* its key in a file: "bonding_groups" */
	const char *item; /* the name of one in messages: "bonding_group" */
	size_t items, count; /* offsets in struct service_group */
	size_t capacity; /* offset in struct group_capacity */
	size_t size; /* of an item */
};

/* For all kinds but LIVE_GROUP. */
extern const struct live_kind live_kinds[LIVE_OBJECTS];

/* The item `index` of a group's list. */
void *live_item(const struct service_group *sg, enum live_object object, size_t index);

/* The length of a group's list. */
size_t live_count(const struct service_group *sg, enum live_object object);

/* The number of slots of a group. */
uint32_t live_capacity(const struct group_capacity *capacity, enum live_object object);

/* Makes a slot free. */
void live_clear(const struct service_group *sg, enum live_object object, size_t index);

/* Writes the name of an object, for people: "modem 02:00:00:00:00:01". */
void live_name(enum live_object object, const void *item, char *text, size_t size);
