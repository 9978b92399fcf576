/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of service groups in service, from the differences to its end, all of it or nothing
 * (docs/decisions/009-live-change.md). By the control thread alone, while the workers run or not.
 *
 *     server_change_open()
 *     server_change_add()     once a group at most: prepares; what may be refused is refused here
 *     server_change_make()    takes it over, waits until what goes has left, frees what was replaced
 *     server_change_close()   also of one that was not made: then nothing was changed
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "server/server.h"

/* So long queues of flows that go may take to run empty: by the clock of the upper MAC. */
#define CHANGE_DRAIN_MS 500

struct server_change;

/* Returns NULL when memory is short. */
struct server_change *server_change_open(struct server *s);

/* The group, by its place in the server, is to change so. Takes `changes` over, whose list becomes empty. Returns
 * false with one line in `why` where it cannot. */
bool server_change_add(struct server_change *c, unsigned group, struct live_changes *changes,
		       char why[LIVE_LINE]);

/* Returns when all of it is in service and what went has left: where the server has somebody who makes the rounds,
 * he has made as many as that took. Cannot fail. */
void server_change_make(struct server_change *c);

/* The same where no worker runs and the caller does the rounds: what is to be done between two of them. Returns
 * whether that was all. */
bool server_change_round(struct server_change *c);

/* Frees it. NULL is harmless. */
void server_change_close(struct server_change *c);
