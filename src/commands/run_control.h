/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket of vcmtsd run: opens and serves it. */
#pragma once

#include "capture/live/service.h"
#include "control/control_socket.h"
#include "control/methods/methods.h"

#define RUN_CONTROL_PATH 256
#define RUN_CONTROL_NONE "none" /* given instead of a path */

struct run_control {
	struct methods methods;
	struct rpc rpc;
	struct control_socket *socket; /* NULL: none */
	char path[RUN_CONTROL_PATH];
	struct tap_service captures; /* in the same folder; only with a control socket */
};

/*
 * Opens the socket in the zeroed `c`: at `path`, or if that is NULL, by PID in the folder of the user's
 * sockets, which is created. Without `path`, a failure is only logged. `mode` are the permissions of the
 * file. Clients may connect and wait. Returns 0, or -1 after a message if `path` cannot be used.
 */
int run_control_open(struct run_control *c, const char *path, unsigned mode);

/* From now on, changes of the server become events, and clients may capture packets. Failures are logged. */
void run_control_start(struct run_control *c, struct server *server);

/* Logs the path of the socket. */
void run_control_log(const struct run_control *c);

/* Waits at most `timeout_ms` and serves requests. A signal ends the wait. */
void run_control_serve(struct run_control *c, int timeout_ms);

/* Does nothing if zeroed. */
void run_control_close(struct run_control *c);
