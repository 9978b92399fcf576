/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloads the configuration in parallel to traffic; one of its files changes each time. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "bed.h"
#include "server/reload.h"

struct reloading {
	struct bed *bed;
	struct reload reload;
	/* Two contents of the file, in alternation. */
	const char *file;
	char *texts[2];
	size_t sizes[2];
	unsigned current; /* index of the content in the file */
	unsigned count;
	double ms[64]; /* from request to effect */
	double work_ms[64]; /* of this, CPU time of the thread */
	bool failed;
};

/*
 * The server was created from `config`. `file` is a part of it or the whole; `other` has its other content.
 * Loads it once for comparison. Returns 0, or -1 after a message. The caller closes it with
 * reloading_close(), which restores the file, in either case.
 */
int reloading_open(struct reloading *r, struct bed *b, const char *config, const char *file,
		   const char *other);
void reloading_close(struct reloading *r);

/* Reloads repeatedly for the given time, but at most 64 times. `arg`: an open struct reloading. Sets `failed`
 * after a message. */
void reloading_task(void *arg, unsigned milliseconds);

/* Adds the figures to `found`, which may be NULL. */
void reloading_json(const struct reloading *r, json_t *found);
