/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of a group on its way into the upstream (docs/decisions/009-live-change.md). The control thread
 * begins and ends it, the worker does its steps between two rounds:
 *
 *     us_change_begin()      control    memory and slots; all that may be refused
 *     us_change_take()       worker     tables and keys; what waits of those that go is dropped
 *     us_change_passed()     worker     has what came in before left queues and crypto provider?
 *     us_change_end()        control    frees what was replaced, once all workers have passed
 *
 * Steps return whether they were the last, to be called again else; each takes no more than 50 us.
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "upstream/upstream.h"

struct us_change;

/*
 * `schedules` has two of keys (UPLINK) for each change of the list that is a modem which is to be, in the
 * order of the list: of the present generation of its key and of the next; both NULL where those that it has remain.
 * NULL instead of all: none differs. What the list and `group` show must live to the end of the taking over; schedules
 * that were replaced until us_change_end(). `sg` is what is in service. Returns NULL with one line in `why` when it
 * cannot be made: then nothing was changed.
 *
 * Another one may begin when the one before was taken over, while what that one removed still leaves. The place of a
 * modem that goes is given again after the end only; it is refused before.
 */
struct us_change *us_change_begin(struct upstream *u, const struct service_group *sg,
				  const struct live_changes *changes, void *const *schedules,
				  char why[LIVE_LINE]);

/* For struct worker_task: `change` is the struct us_change. */
bool us_change_take(void *change);
bool us_change_passed(void *change);

/* Frees it with what it replaced, and the slots of what went. Also one that was begun and nothing else: then with
 * what it had prepared. */
void us_change_end(struct us_change *change);
