/* SPDX-License-Identifier: BSD-3-Clause */
/* A Unix socket for JSON-RPC requests, which are processed in order. The permissions of its file
 * decide who may use it. One thread serves all clients, so that only one request runs at a time. */
#pragma once

#include "control/rpc.h"

#define CONTROL_CLIENTS 32
#define CONTROL_REQUEST_MAX (1u << 20) /* bytes */

struct control_socket;

struct control_options {
	const char *path; /* of the socket; its folder must exist */
	unsigned mode; /* permissions of the file, such as 0600 */
	/* A client that makes no progress in a request or response for so long is disconnected. */
	unsigned stall_ms;
};

/* Creates the socket. Replaces the socket file of a process that has ended, and fails if another
 * process serves it. `rpc` must outlive the socket. Returns NULL after a message. */
struct control_socket *control_socket_open(const struct control_options *options,
					   const struct rpc *rpc);

/*
 * Waits at most `timeout_ms` (>= 0) for input, and runs at most one request per client, or one call of an
 * array. Continues waiting calls, and for some milliseconds calls that only read. A signal ends the wait.
 */
void control_socket_serve(struct control_socket *s, int timeout_ms);

/* Removes the file and disconnects all clients. `s` may be NULL. */
void control_socket_close(struct control_socket *s);
