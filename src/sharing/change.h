/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies a change of a group to the table of a port that the group shares
 * (docs/decisions/009-live-change.md). The control thread begins and ends it. The worker that owns
 * the port makes its steps between two rounds:
 *
 *     share_change_begin()  control  validates and allocates; everything that can fail
 *     share_change_add()    owner    adds keys, after the tables of the group have them
 *     share_change_remove() owner    removes keys, before the tables of the group lose them
 *     share_change_end()    control  frees replaced data, after all workers have passed a round
 *
 * The state of a change:
 *
 *     prepared  no worker has seen it; it may be ended without effect
 *     applying  the owner is making its steps
 *     retiring  all steps are done; only memory is left to free
 *
 * A group has at most one change that is prepared or applying. No change may begin while the owner
 * makes a step. Changes are applied in the order in which they began. Ending a prepared change
 * requires ending all prepared ones that began later. Retiring changes may end in any order.
 *
 * Keys that move within the group stay. A step takes at most 50 us, cannot fail, and returns
 * whether it was the last one; else it is called again.
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "sharing/sharing.h"

struct share_change;

/*
 * Prepares the change of group `group` on the port. `groups` are those in service, with all applied
 * changes, by their numbers on the port; they are read during the call only. Returns 0 with
 * `*change`, NULL if the port's table stays as it is. Returns -1 with a line in `why` if the change
 * is refused; then nothing has changed.
 */
int share_change_begin(struct port_share *s, const struct service_group *const *groups,
		       unsigned count, unsigned group, const struct live_changes *changes,
		       struct share_change **change, char why[LIVE_LINE]);

/* For struct worker_task; `change` is the struct share_change. */
bool share_change_add(void *change);
bool share_change_remove(void *change);

/* Frees a prepared change, or a retiring one with what it replaced. NULL is allowed. */
void share_change_end(struct share_change *change);
