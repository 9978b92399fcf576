/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket of vcmtsd as its client: JSON-RPC 2.0, a line per message. Answers stand between the
 * notifications of events to which the connection subscribes, in the order in which the server does things.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "platform/sockets/socket_peer.h"

#define SERVER_LINK_PATIENCE_MS 10000 /* for an answer */

struct server_link {
	const char *path; /* of the socket; must live on */
	int fd; /* -1: not connected */
	uint64_t id; /* of the last request */
	const char *trouble; /* what was wrong, one of few or `peer`; NULL: nothing */
	char peer[SOCKET_PEER_LINE]; /* another user who serves there */
	char *bytes; /* received and not taken */
	size_t first, count, size; /* of them, and of the memory */
	size_t scanned; /* of them without an end of line */
	json_t *early; /* messages that came while an answer was waited for */
};

void server_link_init(struct server_link *l, const char *path);

void server_link_close(struct server_link *l);

/*
 * Sends a request; `params` is taken over, NULL: it has none. Connects where there is no connection. Returns the
 * request's id, or 0 with `trouble` set and no connection.
 */
uint64_t server_link_send(struct server_link *l, const char *method, json_t *params);

/*
 * The next message, which the caller owns: a notification, or the answer to a request that was sent. Waits for at most
 * `wait_ms`. NULL: there is none, and where the connection broke, `trouble` is set and there is no connection.
 */
json_t *server_link_next(struct server_link *l, int wait_ms);

/*
 * Sends a request and waits for its answer; what comes before that is kept for server_link_next(). Returns its
 * result, which the caller owns, or NULL with `trouble` set.
 */
json_t *server_link_call(struct server_link *l, const char *method, json_t *params);
