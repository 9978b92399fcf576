/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration read again while traffic runs: what differs is changed, or all of it refused. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/server_config.h"
#include "server/server.h"

#define RELOAD_LINE 1024

enum reload_stage { RELOAD_BEGINS, RELOAD_IS_DONE };

struct reload {
	struct server *server;
	const char *path; /* of the configuration */
	struct server_devices devices; /* instead of those in it */
	struct kept_groups *kept; /* what was loaded last, so that only what differs is read */
	/* Called by reload_run() before the file is read, and when it has been; NULL: nobody looks on. */
	void (*watcher)(void *ctx, enum reload_stage stage);
	void *watcher_ctx;
	/* Asked for by another thread, and what came of it. */
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool closed;
	unsigned long asked, answers;
	bool good;
	char answer[RELOAD_LINE];
	char line[RELOAD_LINE]; /* being written */
};

/* `path` and the names of `devices`, which the ports in service are of, must live on. Nobody looks on at first. */
void reload_open(struct reload *r, struct server *s, const char *path,
		 const struct server_devices *devices);

/*
 * server_config_load_again() of a running server. Returns NULL after mistakes, with what was said of them in `said`, a
 * line each, to be freed; that is NULL as well where memory is short.
 */
const struct server_config *reload_load(const struct reload *r, struct kept_groups **kept,
					const char *path, char **said);

/* What `said` has to tell in one line. */
const char *reload_first_line(const char *said, int *length);

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

void reload_free(struct reload *r);
