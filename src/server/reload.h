/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration read again while traffic runs: what differs is changed, or all of it refused. */
#pragma once

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
	char line[RELOAD_LINE]; /* what came of the last one */
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

/*
 * Reads the file and applies it, by the thread that launched the workers, while they run; logs
 * in one line what came of it, after the loader's lines on mistakes. Returns whether the file
 * is now what is in service.
 */
bool reload_run(struct reload *r);

void reload_free(struct reload *r);
