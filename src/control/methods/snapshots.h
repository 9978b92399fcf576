/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots in the process of being written. Before the control thread changes a group, it copies
 * the group into each of them. */
#pragma once

#include "model/live/snapshot.h"

struct snapshot_reading {
	struct snapshot *snapshot;
	struct snapshot_reading *next;
};

/* Zeroed: none. */
struct snapshots {
	struct snapshot_reading *first;
};

/* `r` and its snapshot must stay valid until snapshots_unregister(). */
void snapshots_register(struct snapshots *s, struct snapshot_reading *r);

/* Does nothing if `r` is not registered. */
void snapshots_unregister(struct snapshots *s, struct snapshot_reading *r);

/* Call it before the group changes or is removed. */
void snapshots_copy(const struct snapshots *s, const struct live_group *l);
