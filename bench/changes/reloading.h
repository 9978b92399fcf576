/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration read again beside traffic, one of its files being another one each time. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "bed.h"
#include "server/reload.h"

struct reloading {
	struct reload reload;
	/* Two texts that take turns in the place of the one file. */
	const char *file;
	char *texts[2];
	size_t sizes[2];
	unsigned turn;
	unsigned count;
	double ms[64]; /* from the request to its effect */
	double work_ms[64]; /* of this the thread's own time */
	bool failed;
};

/* The server was made from `config`, of which `file` is a part or the whole; `other` has the other text. Reads it
 * once, to know it. Returns 0, or -1 after a message. To be closed by reloading_close() in either case. */
int reloading_open(struct reloading *r, struct bed *b, const char *config, const char *file,
		   const char *other);
void reloading_close(struct reloading *r);

/* As often as there is time for. */
void reloading_beside(void *arg, unsigned milliseconds);

/* Into `found`, which may be NULL. */
void reloading_json(const struct reloading *r, json_t *found);
