/* SPDX-License-Identifier: BSD-3-Clause */
/* A Unix socket with a name in the file system, at which one process at a time listens. */
#pragma once

#include <sys/un.h>

#include "platform/sockets/socket_claim.h"

struct listener {
	const char *what; /* name in messages, before the word "socket" */
	int fd;
	struct socket_claim claim;
	struct sockaddr_un address;
};

#define LISTENER_NONE                                \
	(struct listener) {                          \
		.fd = -1, .claim = SOCKET_CLAIM_NONE \
	}

/*
 * Opens the socket; `l` is LISTENER_NONE. `what` must stay valid. The folder must exist; `mode` has
 * the permissions of the file. Replaces the socket file of a process that has ended, and fails if
 * another process serves it. Connections wait in the backlog; accept() does not block. Returns 0,
 * or -1 after a message; call listener_close() in either case.
 */
int listener_open(struct listener *l, const char *what, const char *path, unsigned mode);

/* Removes the file. Does nothing for LISTENER_NONE. */
void listener_close(struct listener *l);
