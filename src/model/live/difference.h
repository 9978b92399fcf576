/* SPDX-License-Identifier: BSD-3-Clause */
/* The difference between a group in service and its next configuration: objects to add, remove or
 * change. */
#pragma once

#include "model/live/live_group.h"

/* One object. `next` is its next value in a block of its own, whose references are slots of the
 * live group; NULL: it is removed. It is added if its slot is free, else changed. */
struct live_change {
	enum live_object object;
	uint32_t slot;
	union {
		const void *next;
		void *block; /* the same, for the function that frees it */
		/* the object is the group: only its single values change */
		const struct service_group *group;
		const struct channel *channel;
		const struct upstream_channel *upstream_channel;
		const struct bonding_group *bonding_group;
		const struct filter_group *filter_group;
		const struct modem *modem;
	};
};

/* Changes in an order in which they can be applied. An object occurs at most once. Objects are
 * matched by MAC address (modems) or ID (all others). */
struct live_changes {
	struct live_change *list;
	size_t count, capacity;
	bool applied; /* then `next` is the object that was in the slot before, or NULL */
};

/*
 * Finds the changes that turn `l` into `next`, which must be valid. Does not compare the crypto
 * provider and its device. Returns true, and `changes` are for live_changes_apply() or
 * live_changes_free(). Returns false with one line in `why`: a key that needs a restart, a list
 * without free slots, or no memory. Added objects get slots that are free already, not those of
 * objects that the same list removes.
 */
bool live_difference(const struct live_group *l, const struct service_group *next,
		     struct live_changes *changes, char why[LIVE_LINE]);

/* Applies the changes to `l`, which must not have changed since they were found.
 * live_changes_free() frees the replaced objects, once nothing reads them. Cannot fail. */
void live_changes_apply(struct live_group *l, struct live_changes *changes);

/* Appends an object. If memory is short, frees the block and returns false. */
bool live_changes_add(struct live_changes *changes, enum live_object object, uint32_t slot,
		      void *block);

/* Frees the list and its blocks: changes that were not applied, or replaced objects. Accepts a
 * zeroed struct. */
void live_changes_free(struct live_changes *changes);

/* Writes a summary for people: "3 modems added, 1 channel changed", or "nothing". Works before and
 * after the changes are applied. */
void live_changes_text(const struct live_group *l, const struct live_changes *changes, char *text,
		       size_t size);

/* Writes the name of a change's object for people: "modem 02:00:00:00:00:01". Works before and
 * after the change is applied. */
void live_change_name(const struct live_group *l, const struct live_change *c, char *text,
		      size_t size);
