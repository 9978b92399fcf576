/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of a group on its way into the table of a port that it shares (docs/decisions/009-live-change.md).
 * The control thread begins and ends it; the worker that owns the port does its steps between two rounds:
 *
 *     share_change_begin()    control   everything that can fail
 *     share_change_come()     owner     what the change adds is found from now on: behind the tables of the group
 *     share_change_go()       owner     what it removes is found no more: before the tables of the group
 *     share_change_end()      control   frees what was replaced, after a grace period of all workers
 *
 * Each change is in one state, which everything that looks at changes of a port asks for:
 *
 *     prepared    no worker has seen it; it may be ended without effect
 *     taken       the owner is doing its steps
 *     retiring    all steps are done: the port's table has the change, which has only memory left to free
 *
 * A group has one change at a time that is prepared or taken. A change is begun while the owner does no step of
 * another one. Changes are taken in the order in which they were begun. If one of several prepared changes is ended,
 * so are those that were begun after it. Retiring changes end in any order.
 *
 * Keys that move within the group stay as they are. Steps return whether they were the last, and are called
 * again until then; each takes no more than 50 us. They cannot fail.
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "sharing/sharing.h"

struct share_change;

/*
 * What `changes` of group `group` mean to the port. `groups` are those in service, with all that was taken, by their
 * numbers on the port; they are read during the call only. Returns 0 with `*change`, NULL where the port's table stays
 * as it is; or -1 with one line in `why`: then nothing was changed.
 */
int share_change_begin(struct port_share *s, const struct service_group *const *groups,
		       unsigned count, unsigned group, const struct live_changes *changes,
		       struct share_change **change, char why[LIVE_LINE]);

/* For struct worker_task: `change` is the struct share_change. */
bool share_change_come(void *change);
bool share_change_go(void *change);

/* Frees a change that is prepared, or retiring together with what it replaced. NULL is harmless. */
void share_change_end(struct share_change *change);
