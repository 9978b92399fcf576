/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration read again while traffic runs: what differs in the quality of service of a group is
 * applied by the thread that owns its scheduler, anything else refuses the whole (docs/running.md).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/server_config.h"
#include "server/reload_compare.h"
#include "server/server.h"

/* Changes that are applied between two rounds, of which one takes up to 10 us where all that it
 * looks at (32 flows of the modem) is out of the caches: together no more than 50 us. */
#define RELOAD_STEP 4
#define RELOAD_LINE 512

/* Changes of a group on their way into its scheduler. */
struct reload_job {
	struct downstream *downstream;
	const struct service_group *now, *next;
	const struct reload_changes *changes;
	size_t done;
	const char *why; /* the scheduler refused the change at `refused` */
	size_t refused;
};

/* One step of at most RELOAD_STEP changes: `arg` is a struct reload_job. After a refusal the steps
 * lead back. Returns whether it was the last. */
bool reload_step(void *arg);

struct reload {
	struct server *server;
	const char *path; /* of the configuration */
	struct server_devices devices; /* instead of those in it */
	struct server_config loaded[2]; /* in turn: the present one, if any, and the next */
	unsigned turn;
	/* Asked for by another thread, and what came of it. */
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool closed;
	unsigned long asked, answers;
	bool good;
	char answer[RELOAD_LINE];
	char line[RELOAD_LINE]; /* being written */
};

/* `path` and the names of `devices`, which the ports in service are of, must live on. */
void reload_open(struct reload *r, struct server *s, const char *path,
		 const struct server_devices *devices);

/* Whether reload_ask() waits for a reload_run(). */
bool reload_is_asked(struct reload *r);

/*
 * Reads the file and applies it, by the thread that launched the workers, while they run; says on
 * stderr in one line what came of it, after the loader's lines on mistakes. Returns whether the file
 * is now what is in service.
 */
bool reload_run(struct reload *r);

/* From any other thread: has the file read, waits, and gives the same line. */
bool reload_ask(struct reload *r, char *line, size_t size);

/* Whoever waits in reload_ask() is told that there is no service any more. */
void reload_close(struct reload *r);

/* Frees what was loaded, once nobody reads `qos` of a group. */
void reload_free(struct reload *r);
