/* SPDX-License-Identifier: BSD-3-Clause */
/* Which user serves a socket, and whether that user may: for clients that send keys, or believe what they are sent. */
#pragma once

#define SOCKET_PEER_LINE 256

/*
 * Checks the peer of a connected Unix socket before anything is sent. Allowed are root, this user, and the owners of
 * folders on the way to `path` that these have made: a folder in one that anybody may write to, such as /tmp, says
 * nothing of its owner, nor does a symbolic link there. Returns NULL where the peer is allowed; else what was found and
 * what is allowed, in `fault`.
 */
const char *socket_peer_fault(int fd, const char *path, char fault[SOCKET_PEER_LINE]);
