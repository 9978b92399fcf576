/* SPDX-License-Identifier: BSD-3-Clause */
/* A Unix socket with a name in the file system, at which one process listens at a time. */
#pragma once

#include <sys/un.h>

#include "platform/sockets/socket_claim.h"

struct listener {
	const char *what; /* in messages, before "socket" */
	int fd;
	struct socket_claim claim;
	struct sockaddr_un address;
};

#define LISTENER_NONE                                \
	(struct listener) {                          \
		.fd = -1, .claim = SOCKET_CLAIM_NONE \
	}

/*
 * Makes the socket in `l`, which is LISTENER_NONE. `what` lives on. Its folder exists, `mode` is that of its file. What a process that
 * is gone left there is replaced; where one serves, this is refused. Who connects waits until it is accepted; accept()
 * does not wait. Returns 0, or -1 after a message; to be closed in either case.
 */
int listener_open(struct listener *l, const char *what, const char *path, unsigned mode);

/* Takes the file away. Harmless on LISTENER_NONE. */
void listener_close(struct listener *l);
