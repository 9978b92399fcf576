/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Unix socket on which clients send JSON-RPC requests, one behind the other, and get answers in that order.
 * Who may write to its file may use it. One thread serves all clients, so that no two requests are at work
 * at a time.
 */
#pragma once

#include "control/rpc.h"

#define CONTROL_CLIENTS 32
#define CONTROL_REQUEST_MAX (1u << 20) /* bytes */

struct control_socket;

struct control_options {
	const char *path; /* of the socket: its folder exists */
	unsigned mode; /* of the file, such as 0600 */
	/* A client that has begun a request, or has not taken an answer, for so long is let go. */
	unsigned patience_ms;
};

/*
 * Makes the socket. A file that is left of a process which is gone is replaced; where one answers, this is
 * refused. `rpc` must live on. Returns NULL after a message.
 */
struct control_socket *control_socket_open(const struct control_options *options,
					   const struct rpc *rpc);

/*
 * Waits for at most `timeout_ms` (0 or more) for something to come, and answers it: at most one request of each client,
 * and of an array one call. Goes on with calls that wait, and for some milliseconds with those that only read. A signal ends the wait.
 */
void control_socket_serve(struct control_socket *s, int timeout_ms);

/* Takes the file away and lets all clients go. Harmless on NULL. */
void control_socket_close(struct control_socket *s);
