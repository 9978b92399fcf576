/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots that are being written: the control thread has a group copied into each of them before it changes the group. */
#pragma once

#include "model/live/snapshot.h"

struct snapshot_reading {
	struct snapshot *snapshot;
	struct snapshot_reading *next;
};

/* Zeroed: there are none. */
struct snapshots {
	struct snapshot_reading *first;
};

/* `r` and its snapshot must live on until snapshots_leave(). */
void snapshots_join(struct snapshots *s, struct snapshot_reading *r);

/* Harmless on one that has not joined. */
void snapshots_leave(struct snapshots *s, struct snapshot_reading *r);

/* The group is about to change, or to end. */
void snapshots_copy(const struct snapshots *s, const struct live_group *l);
