/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns changes of the server into events for subscribers (docs/control.md, events). */
#pragma once

#include "control/event_journal.h"
#include "control/methods/snapshots.h"
#include "server/changes.h"

struct events {
	struct event_journal *journal; /* NULL: there was no memory for a journal */
	struct server *server;
	struct server_watcher watcher;
	struct snapshots snapshots; /* copied before each change, if `server` is set */
};

/* Creates the journal; without memory there are no events. */
void events_open(struct events *e);

/* Changes of the server become events after this call. */
void events_watch(struct events *e, struct server *s);

/* Call it after the control socket is closed. Does nothing if zeroed. */
void events_close(struct events *e);
