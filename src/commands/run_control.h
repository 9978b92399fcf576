/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket of vcmtsd run: where it is, and when it is served. */
#pragma once

#include "capture/live/service.h"
#include "control/control_socket.h"
#include "control/methods/methods.h"

#define RUN_CONTROL_PATH 256
#define RUN_CONTROL_NONE "none" /* in the place of a path */

struct run_control {
	struct methods methods;
	struct rpc rpc;
	struct control_socket *socket; /* NULL: there is none */
	char path[RUN_CONTROL_PATH];
	struct tap_service captures; /* beside it; not there where it is not */
};

/*
 * Opens it in the zeroed `c`: at `path`, or where that is NULL under a name of the process in the folder of
 * the user's sockets, which is made; where that cannot be, this is said and there is none. `mode` is that of the file.
 * Who connects waits until it is served. Returns 0, or -1 after a message where `path` cannot be had.
 */
int run_control_open(struct run_control *c, const char *path, unsigned mode);

/* From now on changes of the server become events, and clients may capture what its workers do. Where these cannot,
 * it is said. */
void run_control_start(struct run_control *c, struct server *server);

/* Says on stderr in one line where it is. */
void run_control_say(const struct run_control *c);

/* Waits for at most `timeout_ms`, and does what clients ask for. A signal ends the wait. */
void run_control_serve(struct run_control *c, int timeout_ms);

/* Harmless on a zeroed one. */
void run_control_close(struct run_control *c);
