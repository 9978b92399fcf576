/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of a Unix socket in the file system. A socket's file outlives the process that made it, and bind() then fails for ever:
 * a name is claimed before it is bound, which removes the file of a process that has ended. Pure C.
 */
#pragma once

#include <sys/un.h>

#define SOCKET_PATH_SIZE sizeof(((struct sockaddr_un *)0)->sun_path) /* with its NUL */

struct socket_claim {
	int lock; /* -1: nothing is claimed */
	int type; /* SOCK_STREAM or SOCK_SEQPACKET */
	char path[SOCKET_PATH_SIZE];
};

#define SOCKET_CLAIM_NONE (struct socket_claim){.lock = -1}

/*
 * Claims `path` for a socket of `type` that the caller, or a library, binds next. The claim is a lock on the file PATH.lock, which
 * the kernel releases with the process: of two programs that start at the same time one gets it. Where a process listens at `path`
 * without a lock, that counts as its claim. A socket to which no process listens is removed; any other file is left alone. Returns
 * NULL, or why the name is not available: then nothing is claimed.
 */
const char *socket_claim(struct socket_claim *c, const char *path, int type);

/* Releases the claim, and removes the socket where no process listens to it any more. Harmless on SOCKET_CLAIM_NONE. */
void socket_claim_release(struct socket_claim *c);
