/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of a change, as the crypto provider has them: those that come, and after it those that went. */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "server/served_group.h"

/* Of which nobody makes use. */
struct loose_key {
	void *schedule;
	enum crypto_direction direction;
	enum cipher cipher;
};

struct change_keys {
	void **down; /* a schedule for each change; NULL: the present one remains */
	void **up; /* two for each modem that is to be, in the order of the list */
	struct loose_key *loose; /* what the group does not have yet, or has no more */
	size_t loose_count;
};

/* Returns false with one line in `why` when memory or the device has no more. To be given to
 * change_keys_free() in either case. */
bool change_keys_make(struct change_keys *k, struct served_group *g,
		      const struct live_changes *changes, char why[LIVE_LINE]);

/* They are the group's, and what it had for them is here: before the changes are taken into the live group. */
void change_keys_take(struct change_keys *k, struct served_group *g,
		      const struct live_changes *changes);

/* Frees those that are here. */
void change_keys_free(struct change_keys *k, const struct served_group *g);
