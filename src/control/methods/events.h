/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns changes of the server into events for subscribers (docs/control.md, events). */
#pragma once

#include "control/event_journal.h"
#include "control/methods/snapshots.h"
#include "server/changes.h"

struct events {
	struct event_journal *journal; /* NULL: no memory for one */
	struct server *server;
	struct server_watcher watcher;
	struct snapshots snapshots; /* updated before each change where `server` is set */
};

/* Creates the journal; without memory there are no events. */
void events_open(struct events *e);

/* From now on, changes of the server become events. */
void events_watch(struct events *e, struct server *s);

/* Call it when subscribers are no longer served. Does nothing if zeroed. */
void events_close(struct events *e);
