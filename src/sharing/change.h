/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of a group on its way into the table of a port that it shares (docs/decisions/009-live-change.md).
 * The control thread begins and ends it; who owns the port does its steps between two rounds:
 *
 *     share_change_begin()    control   all that may be refused
 *     share_change_come()     owner     what comes is found from now on: behind the tables of the group
 *     share_change_go()       owner     what goes is found no more: before the tables of the group
 *     share_change_end()      control   frees what was replaced, once all workers have passed
 *
 * Several may be begun, of a group each, before the first is made: then each counts on those before it, and they are
 * made in the order in which they were begun, or none of them is.
 *
 * Of what moves within the group nothing changes. Steps return whether they were the last, to be called again
 * else; each takes no more than 50 us.
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "sharing/sharing.h"

struct share_change;

/*
 * What `changes` of group `group` mean to the port. `groups` are those in service, by their numbers on the port,
 * read during the call only. Returns 0 with `*change`, NULL where they mean nothing; or -1 with one line in `why`:
 * then nothing was changed.
 */
int share_change_begin(struct port_share *s, const struct service_group *const *groups,
		       unsigned count, unsigned group, const struct live_changes *changes,
		       struct share_change **change, char why[LIVE_LINE]);

/* For struct worker_task: `change` is the struct share_change. */
bool share_change_come(void *change);
bool share_change_go(void *change);

/* Frees it with what it replaced. Also one that was begun and nothing else, and NULL. */
void share_change_end(struct share_change *change);
