/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of the server as events for subscribers (docs/control.md, events). */
#pragma once

#include "control/event_journal.h"
#include "control/methods/snapshots.h"
#include "server/changes.h"

struct events {
	struct event_journal *journal; /* NULL: there is none */
	struct server *server;
	struct server_watcher watcher;
	struct snapshots snapshots; /* are kept as they were where `server` is set */
};

/* Makes the journal; without memory there are no events. */
void events_open(struct events *e);

/* From now on changes of the server become events. */
void events_watch(struct events *e, struct server *s);

/* When nobody serves subscribers any more. Harmless on a zeroed one. */
void events_close(struct events *e);
