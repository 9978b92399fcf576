/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies a change of a group to the downstream (docs/decisions/009-live-change.md). The control
 * thread begins, prepares and ends it. The workers make its steps between two rounds:
 *
 *     ds_change_begin()    control    validates; allocates memory, slots and rules
 *     ds_change_upper()    upper MAC  applies it to scheduler, tables and rules
 *     ds_change_lower()    lower MAC  writes headers and keys of flows that stay
 *     ds_change_drained()  any        whether the queues of removed flows are empty
 *     ds_change_close()    upper MAC  drops the rest of their packets and ends their use
 *     ds_change_flushed()  lower MAC  whether earlier packets have left it
 *     ds_change_end()      control    frees replaced data after all workers have passed
 *
 * After ds_change_upper(), no further packet gets a removed object, and the change does not read
 * the change list and `sg` any more. The next change may begin after ds_change_upper() and
 * ds_change_lower(). Changes may end in any order.
 *
 * A step takes at most 50 us and returns whether it was the last one. Else it is called again.
 */
#pragma once

#include <stdbool.h>

#include "downstream/downstream.h"
#include "model/live/difference.h"

struct ds_change;

/*
 * `schedules` has the DOWNLINK key schedule for each change of the list that adds or replaces a
 * modem; NULL: the present one stays. The arrays must exist until ds_change_upper() returns true.
 * `sg` is the group in service. Returns NULL with a line in `why` if the change is refused; then
 * nothing has changed. Else `why` is empty.
 */
struct ds_change *ds_change_begin(struct downstream *d, const struct service_group *sg,
				  const struct live_changes *changes, void *const *schedules,
				  char why[LIVE_LINE]);

/* For struct worker_task; `change` is the struct ds_change. */
bool ds_change_upper(void *change);
bool ds_change_lower(void *change);
bool ds_change_close(void *change);
bool ds_change_flushed(void *change);

/* Exact on the thread of the upper MAC. On other threads the result may be true too late. */
bool ds_change_drained(const struct ds_change *change);

/* Frees the change, the data that it replaced and the slots of removed objects. If no step was
 * made, frees the data that it prepared instead. */
void ds_change_end(struct ds_change *change);
