/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of service groups in service, from the differences to its end, all of it or nothing
 * (docs/decisions/009-live-change.md). By the control thread alone, while the workers run or not.
 *
 *     server_change_open()
 *     server_change_add()     once a group at most: prepares; what may be refused is refused here
 *     server_change_take()    takes it over, and leaves the rest to the server: what goes leaves meanwhile
 *     server_change_close()   of one that was not taken: then nothing was changed
 *
 * So the next change may come while what this one removed still leaves. Or, where nothing else is to happen before
 * its end, server_change_make() instead of server_change_take(), and server_change_close().
 */
#pragma once

#include <stdbool.h>

#include "model/live/difference.h"
#include "server/server.h"

/* So long queues of flows that go may take to run empty: by the clock of the upper MAC. */
#define CHANGE_DRAIN_MS 500

struct server_change;

/* A change as watchers know it. */
struct watched_change {
	uint64_t number; /* counted from 1 */
	uint64_t generation; /* of the server, once it is applied */
	uint32_t ids[SERVER_MAX_GROUPS]; /* of the groups that differ */
	unsigned count;
};

enum watched_group {
	WATCH_ADDED,
	WATCH_REMOVED,
	WATCH_MOVED, /* to other workers */
	WATCH_PROVIDER, /* of its crypto */
};

/* What becomes of a group as a whole. */
struct group_watch {
	enum watched_group what;
	const struct served_group *group;
	const struct layout_group *at; /* of WATCH_MOVED: where it will run */
	const struct crypto_config *crypto; /* of WATCH_PROVIDER: that it will have */
};

struct server_difference {
	const struct served_group *group;
	const struct live_changes *changes; /* not taken yet */
};

/*
 * Is told of changes by the control thread: first of what differs or of a group, before a worker sees it; then that it
 * is applied, and that what it replaced has left the data plane. What is passed lasts as long as the call.
 */
struct server_watcher {
	void (*differs)(void *arg, const struct watched_change *w,
			const struct server_difference *list); /* one a group */
	void (*group)(void *arg, const struct watched_change *w, const struct group_watch *g);
	void (*applied)(void *arg, const struct watched_change *w);
	void (*retired)(void *arg, const struct watched_change *w);
	void (*reloaded)(void *arg, uint64_t generation, const char *line);
	void *arg;
};

/* Tell the watcher of the server, where there is one. */
void server_tell_differences(struct server_change *c);
void server_tell_group(struct server *s, struct watched_change *w, const struct group_watch *g);
void server_tell_applied(const struct server *s, const struct watched_change *w);
void server_tell_retired(const struct server *s, const struct watched_change *w);
void server_tell_reloaded(const struct server *s, const char *line);

/* Returns NULL when memory is short. */
struct server_change *server_change_open(struct server *s);

/* The group, by its place in the server, is to change so. Takes `changes` over, whose list becomes empty. Returns
 * false with one line in `why` where it cannot. */
bool server_change_add(struct server_change *c, unsigned group, struct live_changes *changes,
		       char why[LIVE_LINE]);

/* Returns when all of it is in service, with its generation; the change is the server's. Cannot
 * fail. Where somebody makes the rounds, what went has left, too. */
uint64_t server_change_take(struct server_change *c);

/* Goes on with what leaves, without waiting for it: to be called often. */
void server_changes_go_on(struct server *s);

/* Waits until nothing leaves any more: before groups, ports or workers change. */
void server_changes_settle(struct server *s);

/* Whether what the changes up to this generation removed has left. */
bool server_changes_have_left(const struct server *s, uint64_t generation);

/* Whether one that still leaves is of the same object as one of these. */
bool server_changes_meet(const struct server *s, unsigned group,
			 const struct live_changes *changes);

/* How many leave. */
unsigned server_changes_leaving(const struct server *s);

/* Returns when all of it is in service and what went has left: where the server has somebody who makes the rounds,
 * he has made as many as that took. Cannot fail. */
void server_change_make(struct server_change *c);

/* The same where no worker runs and the caller does the rounds: what is to be done between two of them. Returns
 * whether that was all. */
bool server_change_round(struct server_change *c);

/* Frees it. NULL is harmless. */
void server_change_close(struct server_change *c);
