/* SPDX-License-Identifier: BSD-3-Clause */
/* The key schedules that a change adds and, once it is applied, those that it replaced. */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "server/served_group.h"

/* A key schedule that no modem uses. */
struct unused_key {
	void *schedule;
	enum crypto_direction direction;
	enum cipher cipher;
};

struct change_keys {
	void **down; /* one schedule per change; NULL: keep the present one */
	void **up; /* two per added or changed modem, in the order of the list */
	struct unused_key *unused; /* new schedules; after change_keys_apply(), replaced ones */
	size_t unused_count;
};

/* Makes the schedules. Returns false with one line in `why` if memory or the device's sessions run
 * out. The caller calls change_keys_free() in either case. */
bool change_keys_make(struct change_keys *k, struct served_group *g,
		      const struct live_changes *changes, char why[LIVE_LINE]);

/* Installs the new schedules in the group and keeps the replaced ones in `k`. Call it before the
 * changes are applied to the live group. */
void change_keys_apply(struct change_keys *k, struct served_group *g,
		       const struct live_changes *changes);

/* Frees `k` and the unused schedules. */
void change_keys_free(struct change_keys *k, const struct served_group *g);
