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
