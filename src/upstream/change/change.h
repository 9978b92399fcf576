/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Live changes of the upstream (docs/decisions/009-live-change.md). The control thread begins and
 * ends a change, the worker applies it in steps between two rounds:
 *
 *     us_change_begin()      control    allocates memory and slots; may refuse the change
 *     us_change_apply()       worker     updates tables and keys; drops packets of removed objects
 *     us_change_flushed()    worker     checks that earlier packets have left queues and crypto
 *     us_change_end()        control    frees replaced objects, when no worker can reach them
 *
 * A step returns whether it was the last; otherwise the worker calls it again. A step takes at most
 * 50 us.
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "upstream/upstream.h"

struct us_change;

/*
 * Prepares a change. Returns NULL with one line in `why` if the change is not possible; nothing has
 * changed then.
 *
 * `schedules` has two key schedules (UPLINK) for each modem that the list adds or replaces, in the
 * order of the list: of the current generation of its key and of the next. Both are NULL if the
 * modem keeps its keys. `schedules` is NULL if all do.
 *
 * The objects of the list and `group` must live until the change has taken effect, replaced
 * schedules until us_change_end(). `sg` is the configuration in service.
 *
 * The next change may begin after this one has taken effect, while it still retires. The slot of a
 * removed modem is free after the end; until then, a change that uses it is refused.
 */
struct us_change *us_change_begin(struct upstream *u, const struct service_group *sg,
				  const struct live_changes *changes, void *const *schedules,
				  char why[LIVE_LINE]);

/* Steps for struct worker_task; `change` is a struct us_change. */
bool us_change_apply(void *change);
bool us_change_flushed(void *change);

/* Frees the change with the objects and slots that it replaced. If the change was never applied,
 * frees what it had prepared. */
void us_change_end(struct us_change *change);
