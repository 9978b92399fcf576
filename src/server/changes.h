/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes service groups in service, all or nothing (docs/decisions/009-live-change.md). The
 * control thread alone calls these functions. If neither workers nor server.rounds run, a changed
 * group must have no pending packets, as they would never leave.
 *
 *     server_change_open()
 *     server_change_add()     at most once per group: prepares; refusals happen here
 *     server_change_apply()   applies it; the server later retires the objects that it replaced
 *     server_change_close()   abandons a change that was not applied: nothing has changed
 *
 * The next change may begin while an earlier one still retires. A caller that needs the end of
 * the change calls server_change_make() instead of server_change_apply(), and then
 * server_change_close().
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "server/server.h"

/* How long queues of removed flows may take to drain, by the clock of the upper MAC. */
#define CHANGE_DRAIN_MS 500

struct server_change;

/* A change as reported to the watcher. */
struct watched_change {
	uint64_t number; /* counted from 1 */
	uint64_t generation; /* the server's generation once the change is applied */
	uint32_t ids[SERVER_MAX_GROUPS]; /* IDs of the groups that differ */
	unsigned count;
};

enum watched_group {
	WATCH_ADDED,
	WATCH_REMOVED,
	WATCH_MOVED, /* to other workers */
	WATCH_PROVIDER, /* another crypto provider */
};

/* A change of a group as a whole. */
struct group_watch {
	enum watched_group what;
	const struct served_group *group;
	const struct layout_group *at; /* WATCH_MOVED: its future workers */
	const struct crypto_config *crypto; /* WATCH_PROVIDER: its future provider */
};

struct server_difference {
	const struct served_group *group;
	const struct live_changes *changes; /* not applied yet */
};

/*
 * Callbacks on the control thread. differs() or group() comes before a worker sees the change,
 * applied() after all have applied it, retired() when no worker can reach what it replaced.
 * Arguments are valid during the call only.
 */
struct server_watcher {
	void (*differs)(void *arg, const struct watched_change *w,
			const struct server_difference *list); /* one per group */
	void (*group)(void *arg, const struct watched_change *w, const struct group_watch *g);
	void (*applied)(void *arg, const struct watched_change *w);
	void (*retired)(void *arg, const struct watched_change *w);
	void (*reloaded)(void *arg, uint64_t generation, const char *line);
	void *arg;
};

/* Notify the server's watcher, if there is one. */
void server_notify_differences(struct server_change *c);
void server_notify_group(struct server *s, struct watched_change *w, const struct group_watch *g);
void server_notify_applied(const struct server *s, const struct watched_change *w);
void server_notify_retired(const struct server *s, const struct watched_change *w);
void server_notify_reloaded(const struct server *s, const char *line);

/* Opens a change that `method`, a literal, requests for one group: its objects count as unsaved
 * (unsaved.h). NULL: a reload, of any number of groups. Returns NULL when memory is short. */
struct server_change *server_change_open(struct server *s, const char *method);

/* Prepares changes of the group in slot `group`. Takes ownership of `changes` and empties the list.
 * Returns false with one line in `why` if a change cannot be made. */
bool server_change_add(struct server_change *c, unsigned group, struct live_changes *changes,
		       char why[LIVE_LINE]);

/* Applies the change, which the server owns from then on. Returns its generation once all workers
 * have applied it; cannot fail. With server.rounds, the change has retired, too. */
uint64_t server_change_apply(struct server_change *c);

/* Continues to retire changes without waiting. The control thread calls it often. */
void server_changes_retire(struct server *s);

/* Waits until every change has retired. Call it before groups, ports or workers change, and before
 * workers stop. */
void server_changes_settle(struct server *s);

/* Whether every change up to this generation has retired. */
bool server_changes_retired(const struct server *s, uint64_t generation);

/* Whether a change that still retires is of the same object as one of `changes`. */
bool server_changes_overlap(const struct server *s, unsigned group,
			    const struct live_changes *changes);

/* Number of changes that still retire. */
unsigned server_changes_retiring(const struct server *s);

/* Applies the change and waits until it has retired; runs server.rounds where they are set. Cannot
 * fail. */
void server_change_make(struct server_change *c);

/* The same for a caller that runs the rounds while no worker runs: call it between two rounds until
 * it returns true. */
bool server_change_round(struct server_change *c);

/* Frees the change; `c` may be NULL. */
void server_change_close(struct server_change *c);
