/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of the server in the midst of a replay: files that are read again as a difference, and calls of the control
 * socket's methods, each at a time of the capture.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/methods/methods.h"
#include "control/rpc.h"
#include "server/reload.h"
#include "server/server.h"
#include "telemetry/metrics/metrics.h"

#define REPLAY_NO_CHANGE UINT64_MAX /* in the place of a time */

struct replay_change {
	uint64_t at; /* ns since the capture's first packet */
	size_t number; /* as given: of one time, the first comes first */
	const char *file; /* to be read; NULL: a call of a method */
	char *request; /* JSON-RPC; owned */
};

/* Zeroed. */
struct replay_changes {
	struct replay_change *list; /* in the order of their times once opened */
	size_t count, next;
	struct server *server;
	struct reload reload;
	const char *config; /* what a call of config.reload reads */
	struct metrics_source metrics;
	struct methods methods;
	struct rpc rpc;
	json_t *answers; /* NULL before it is opened */
	unsigned refused;
};

/* One more, as "TIME=FILE", which must live on. Returns 0, or -1 after a message. */
int replay_changes_then(struct replay_changes *c, const char *text);

/* Those of a JSON file: [{"at": "12.5ms", "method": "modem.add", "params": {}}]. Returns 0, or -1 after a message. */
int replay_changes_read(struct replay_changes *c, const char *path);

/* The server is there. `config` and `devices` are what it was loaded from; all must live on. Returns 0, or -1 after a
 * message. */
int replay_changes_open(struct replay_changes *c, struct server *s, const char *config,
			const struct server_devices *devices);

/* When the next one is to be made, or REPLAY_NO_CHANGE. */
uint64_t replay_changes_at(const struct replay_changes *c);

/* Makes it. What it waits for takes rounds of the server. One that is refused changes nothing, and is told. */
void replay_changes_make(struct replay_changes *c);

/* Harmless on a zeroed one. */
void replay_changes_free(struct replay_changes *c);
