/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of the server during a replay, each at a time of the capture: configuration files to
 * reload, and calls of the control socket's methods. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/methods/methods.h"
#include "control/rpc.h"
#include "server/reload.h"
#include "server/server.h"
#include "telemetry/metrics/metrics.h"

#define REPLAY_NO_CHANGE UINT64_MAX /* returned instead of a time */

struct replay_change {
	uint64_t at; /* ns since the capture's first packet */
	size_t number; /* position in the input: orders changes of the same time */
	const char *file; /* to reload; NULL: a method call */
	char *request; /* JSON-RPC; owned */
};

/* Zero it first. */
struct replay_changes {
	struct replay_change *list; /* sorted by time after replay_changes_open() */
	size_t count, next;
	struct server *server;
	struct reload reload;
	const char *config; /* file for config.reload */
	struct metrics_source metrics;
	struct methods methods;
	struct rpc rpc;
	json_t *answers; /* NULL before replay_changes_open() */
	unsigned refused;
};

/* Adds a change "TIME=FILE"; `text` must stay valid. Returns 0, or -1 after a message. */
int replay_changes_add_reload(struct replay_changes *c, const char *text);

/* Adds the changes of a JSON file: [{"at": "12.5ms", "method": "modem.add", "params": {}}]. Returns 0, or -1
 * after a message. */
int replay_changes_read(struct replay_changes *c, const char *path);

/* Prepares for a running server; `config` and `devices` are what it was loaded from. All must stay valid.
 * Returns 0, or -1 after a message. */
int replay_changes_open(struct replay_changes *c, struct server *s, const char *config,
			const struct server_devices *devices);

/* The time of the next change, or REPLAY_NO_CHANGE. */
uint64_t replay_changes_next_time(const struct replay_changes *c);

/* Applies the next change; runs rounds of the server while it waits. A refused change has no effect, and is
 * reported. */
void replay_changes_apply_next(struct replay_changes *c);

/* Does nothing if zeroed. */
void replay_changes_free(struct replay_changes *c);
