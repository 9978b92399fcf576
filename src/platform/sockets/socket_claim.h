/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims the name of a Unix socket in the file system. A socket's file outlives its process, and
 * bind() then fails. A claim before bind() removes the file of an ended process. Pure C. */
#pragma once

#include <sys/un.h>

#define SOCKET_PATH_SIZE sizeof(((struct sockaddr_un *)0)->sun_path) /* with its NUL */

struct socket_claim {
	int lock; /* -1: no claim */
	int type; /* SOCK_STREAM or SOCK_SEQPACKET */
	char path[SOCKET_PATH_SIZE];
};

#define SOCKET_CLAIM_NONE (struct socket_claim){.lock = -1}

/*
 * Claims `path` for a socket of `type` that the caller, or a library, binds next. The claim is a lock on the
 * file PATH.lock, which the kernel releases with the process, so that only one of two concurrent programs
 * gets it. A listener at `path` without a lock counts as a claim. Removes a socket without a listener; leaves
 * other files. Returns NULL, or the reason for a refusal.
 */
const char *socket_claim(struct socket_claim *c, const char *path, int type);

/* Releases the claim, and removes the socket if no process listens. Does nothing for SOCKET_CLAIM_NONE. */
void socket_claim_release(struct socket_claim *c);
