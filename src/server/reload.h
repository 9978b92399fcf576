/* SPDX-License-Identifier: BSD-3-Clause */
/* Reload: reads the configuration again while traffic runs, and applies all differences or none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/server_config.h"
#include "server/server.h"

#define RELOAD_LINE 2048

enum reload_stage { RELOAD_BEGINS, RELOAD_IS_DONE };

struct reload {
	struct server *server;
	const char *path; /* of the configuration file */
	struct server_devices devices; /* override those of the file */
	struct load_cache *kept; /* what was loaded last, so that only differences are read */
	/* reload_run() calls it when it begins and when it is done; may be NULL. */
	void (*watcher)(void *ctx, enum reload_stage stage);
	void *watcher_ctx;
	char line[RELOAD_LINE]; /* result of the last reload */
	/* It was refused, and the file was not saved since: a restart may fail on the file. */
	bool refused;
};

/* `path` and the names of `devices`, which the ports in service use, must outlive `r`. Sets no
 * watcher. */
void reload_open(struct reload *r, struct server *s, const char *path,
		 const struct server_devices *devices);

/* Calls server_config_reload() for a running server. Returns NULL after errors, with one line
 * per error in `text`, which the caller frees. `text` is NULL if memory is short. */
const struct server_config *reload_load(const struct reload *r, struct load_cache **kept,
					const char *path, char **text);

/* The first line of `text`, and its length. */
const char *reload_first_line(const char *text, int *length);

/*
 * Reads the file and applies it, then logs the result in one line, after the loader's lines on
 * errors. Without `force`, refuses to undo changes that requests have made. Called by the thread that launched the workers, while they run. Returns whether the file
 * is in service now.
 */
bool reload_run(struct reload *r, bool force);

void reload_free(struct reload *r);
