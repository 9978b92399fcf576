/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between a group in service and what it is to be: objects that come, go or differ. */
#pragma once

#include "model/live/live_group.h"

/*
 * One object. `next` is what it is to be, in a block of its own with references as places of the live group, or
 * NULL: it goes. It comes where its place is free, else it differs.
 */
struct live_change {
	enum live_object object;
	uint32_t slot;
	union {
		const void *next;
		void *block; /* the same, for who frees it */
		const struct service_group *group; /* the single values of the top alone */
		const struct channel *channel;
		const struct upstream_channel *upstream_channel;
		const struct bonding_group *bonding_group;
		const struct filter_group *filter_group;
		const struct modem *modem;
	};
};

/*
 * In the order in which they can be made. An object is at most once in it. Objects are matched by what the
 * field knows them by: modems by MAC address, the others by id.
 */
struct live_changes {
	struct live_change *list;
	size_t count, room;
	bool taken; /* then `next` is what was in its place before, or NULL */
};

/*
 * All that makes `l` what `next` is, which was loaded and found good. Returns true, with `changes` to be given to
 * live_changes_take() or live_changes_free(); or false with one line in `why`: the key that takes a new
 * start, the list that has no room, or no memory. What comes takes places that are free already: those of
 * what goes in the same list are not given again before it is taken.
 */
bool live_difference(const struct live_group *l, const struct service_group *next,
		     struct live_changes *changes, char why[LIVE_LINE]);

/*
 * They were made: `l`, which is as it was when they were found, becomes so. What was in its places is freed
 * with live_changes_free(), once nobody reads it. Cannot fail.
 */
void live_changes_take(struct live_group *l, struct live_changes *changes);

/* Puts an object behind the others, for who makes changes. False without memory: then the block is freed. */
bool live_changes_add(struct live_changes *changes, enum live_object object, uint32_t slot,
		      void *block);

/* Frees what is in the list: what was not taken, or what was replaced. Harmless on a zeroed struct. */
void live_changes_free(struct live_changes *changes);

/* "3 modems added, 1 channel changed", for people; "nothing". Before they are taken, or after. */
void live_changes_text(const struct live_group *l, const struct live_changes *changes, char *text,
		       size_t size);

/* What people call the object of a change: "modem 02:00:00:00:00:01", "bonding group 3". Likewise. */
void live_change_name(const struct live_group *l, const struct live_change *c, char *text,
		      size_t size);
