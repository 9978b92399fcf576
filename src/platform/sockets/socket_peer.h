/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks which user serves a socket, for clients that send keys or rely on responses. */
#pragma once

#define SOCKET_PEER_LINE 256

/*
 * Checks the peer of a connected Unix socket before anything is sent. Allowed are root, this user, and the
 * owners of folders along `path` that these users created. A folder or symbolic link in a folder that anyone
 * may write to, such as /tmp, does not make its owner trusted. Returns NULL if the peer is allowed; otherwise
 * `fault` with the found and allowed users.
 */
const char *socket_peer_fault(int fd, const char *path, char fault[SOCKET_PEER_LINE]);

/*
 * Connects to the stream socket `path`, but only to an allowed peer. The connection, and each send(), fails after
 * `timeout_s` seconds (0: never) if the server accepts nothing. Returns the descriptor, which the caller closes.
 * Otherwise returns -1, with the cause in `fault` and in errno: EPERM for another user's server, ENOENT or
 * ECONNREFUSED if no server listens.
 */
int socket_peer_connect(const char *path, unsigned timeout_s, char fault[SOCKET_PEER_LINE]);
