/* SPDX-License-Identifier: BSD-3-Clause */
/* The crypto sessions of a change: those of the keys that come, and after it those of the keys that went. */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "server/served_group.h"

struct change_sessions {
	void **down; /* one for each change; NULL: the present one remains */
	void **up; /* two for each modem that is to be, in the order of the list */
	void **replaced; /* what the group had */
	size_t count; /* changes */
	size_t replaced_count;
};

/* Returns false with one line in `why` when memory or the device has no more. To be given to
 * change_sessions_free() in either case. */
bool change_sessions_make(struct change_sessions *s, struct served_group *g,
			  const struct live_changes *changes, char why[LIVE_LINE]);

/* They are the group's, and what it had for them is here: before the changes are taken into the live group. */
void change_sessions_take(struct change_sessions *s, struct served_group *g,
			  const struct live_changes *changes);

/* Frees those that are here. */
void change_sessions_free(struct change_sessions *s, const struct served_group *g);
