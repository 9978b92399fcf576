/* SPDX-License-Identifier: BSD-3-Clause */
/* An index of the unique values and references in a group in service, so that lookups suffice to
 * validate a request. */
#pragma once

#include "model/live/identity.h"
#include "model/live/identity_table.h"

struct live_index {
	struct identity_table narrow; /* values of one word */
	struct identity_table wide; /* IPv6 addresses */
	struct group_capacity used; /* the part of the capacity that is in use */
	uint32_t *users[LIVE_OBJECTS]; /* number of references to each slot; NULL: not counted */
	/* By slot of bonding groups, for the active flows on them: */
	uint64_t *reserved; /* bits per second */
	uint32_t *without_dsid; /* number of flows */
	/* Linked lists of the modems of one SAID, by slot; IDENTITY_NONE ends them. */
	uint32_t *said_next, *said_prev;
};

/* Allocates an empty index for a group of this capacity in the arena. NULL if memory is short. */
struct live_index *live_index_new(struct arena *arena, const struct group_capacity *capacity);

/* Add an object that enters its slot, and remove one that leaves it. References are slots. */
void live_index_add(struct live_index *index, enum live_object object, const void *item,
		    uint32_t slot);
void live_index_remove(struct live_index *index, enum live_object object, const void *item,
		       uint32_t slot);

/* The slot of the object with this value, of a SAID the first one; IDENTITY_NONE: none. */
uint32_t live_index_find(const struct live_index *index, const struct identity *identity);

/* Adds the capacity that an object uses to `sum`, or subtracts it if `sign` is -1. */
void live_index_count(struct group_capacity *sum, enum live_object object, const void *item,
		      int sign);
