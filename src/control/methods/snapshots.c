/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/methods/snapshots.h"

void snapshots_register(struct snapshots *s, struct snapshot_reading *r) {
	r->next = s->first;
	s->first = r;
}

void snapshots_unregister(struct snapshots *s, struct snapshot_reading *r) {
	struct snapshot_reading **at = &s->first;

	while (*at != NULL && *at != r)
		at = &(*at)->next;
	if (*at != NULL)
		*at = r->next;
}

void snapshots_copy(const struct snapshots *s, const struct live_group *l) {
	for (struct snapshot_reading *r = s->first; r != NULL; r = r->next)
		snapshot_copy(r->snapshot, l);
}
