/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has what, and who refers to whom, in a group in service: so that a request is judged by lookups alone. */
#pragma once

#include "model/live/identity.h"
#include "model/live/identity_table.h"

struct live_index {
	struct identity_table narrow; /* what one word tells */
	struct identity_table wide; /* IPv6 addresses */
	struct group_room used; /* of the room: what there is */
	uint32_t *users[LIVE_OBJECTS]; /* references to each place, but from modems' flows: see below */
	/* By the places of bonding groups, of the flows on them. */
	uint64_t *reserved; /* bits per second of those that are active */
	uint32_t *without_dsid; /* how many of the active ones */
	/* Modems of one SAID, in a row; IDENTITY_NONE ends it. */
	uint32_t *said_next, *said_before;
};

/* For a group of this room, which has nothing yet; in its arena. NULL without memory. */
struct live_index *live_index_new(struct arena *arena, const struct group_room *room);

/* An object that comes into its place, or is about to leave it. References are places. */
void live_index_add(struct live_index *index, enum live_object object, const void *item,
		    uint32_t place);
void live_index_remove(struct live_index *index, enum live_object object, const void *item,
		       uint32_t place);

/* The place of the object that has it, of a SAID the first; IDENTITY_NONE where none has. */
uint32_t live_index_find(const struct live_index *index, const struct identity *identity);

/* Adds what an object takes of a group's room to `sum`, or takes it from there. */
void live_index_count(struct group_room *sum, enum live_object object, const void *item, int sign);
