/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of a group on its way into the downstream (docs/decisions/009-live-change.md). The control thread
 * begins, prepares and ends it; the workers do its steps between two rounds:
 *
 *     ds_change_begin()      control    memory, slots, rules; all that may be refused
 *     ds_change_upper()      upper MAC  scheduler, tables, rules; from now on no packet goes where nothing will be
 *     ds_change_lower()      lower MAC  headers and keys of flows that live on
 *     ds_change_drained()    any        have the queues of flows that go run empty?
 *     ds_change_close()      upper MAC  drops what is left in them; they are out of use
 *     ds_change_passed()     lower MAC  has what it was handed left it?
 *     ds_change_end()        control    frees what was replaced, once all workers have passed
 *
 * The next change may begin once ds_change_upper() and ds_change_lower() of this one are done; they may end in any
 * order. After ds_change_upper() nothing is read of the list and of what was in service.
 *
 * Steps return whether they were the last, to be called again else; each takes no more than 50 us.
 */
#pragma once

#include <stdbool.h>

#include "downstream/downstream.h"
#include "model/live/difference.h"

struct ds_change;

/*
 * `schedules` has the schedule of a key (DOWNLINK) for each change of the list that is a modem which is to be, NULL
 * where the present one remains. They and the list must live to the end; `sg` is what is in service. Returns
 * NULL with one line in `why` when it cannot be made: then nothing was changed. Else `why` is empty.
 */
struct ds_change *ds_change_begin(struct downstream *d, const struct service_group *sg,
				  const struct live_changes *changes, void *const *schedules,
				  char why[LIVE_LINE]);

/* For struct worker_task: `change` is the struct ds_change. */
bool ds_change_upper(void *change);
bool ds_change_lower(void *change);
bool ds_change_close(void *change);
bool ds_change_passed(void *change);

/* By the thread of the upper MAC, or by another one which then may be told too late. */
bool ds_change_drained(const struct ds_change *change);

/* Frees it with what it replaced, and the slots of what went. Also one that was begun and nothing else: then with
 * what it had prepared. */
void ds_change_end(struct ds_change *change);
