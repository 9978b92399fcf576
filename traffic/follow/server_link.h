/* SPDX-License-Identifier: BSD-3-Clause */
/* Client of vcmtsd's control socket: JSON-RPC 2.0, one message per line. Responses and
 * notifications of events come in the order in which the server acts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "platform/sockets/socket_peer.h"

#define SERVER_LINK_TIMEOUT_MS 10000 /* timeout of a response */

struct server_link {
	const char *path; /* of the socket; must outlive the link */
	int fd; /* -1: not connected */
	uint64_t id; /* of the last request */
	const char *error; /* the last error, a static string or `peer`; NULL: none */
	char peer[SOCKET_PEER_LINE]; /* why connecting failed */
	char *bytes; /* received and not parsed */
	size_t first, count, size; /* range of them in `bytes`; allocated size */
	size_t scanned; /* bytes already searched for an end of line */
	json_t *early; /* messages received while waiting for a response */
};

void server_link_init(struct server_link *l, const char *path);

void server_link_close(struct server_link *l);

/* Sends a request and takes ownership of `params` (NULL: none). Connects if needed. Returns the
 * request's ID, or 0 with `error` set and the connection closed. */
uint64_t server_link_send(struct server_link *l, const char *method, json_t *params);

/*
 * Returns the next message, which the caller owns: a notification, or the response to a request. Waits at
 * most `wait_ms`. Returns NULL if there is none; if the connection broke, `error` is set and it is
 * closed.
 */
json_t *server_link_next(struct server_link *l, int wait_ms);

/* Sends a request and waits for its response; keeps messages before it for server_link_next().
 * Returns the result, which the caller owns, or NULL with `error` set. */
json_t *server_link_call(struct server_link *l, const char *method, json_t *params);
