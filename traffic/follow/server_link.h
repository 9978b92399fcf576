/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket of vcmtsd as its client: a JSON-RPC 2.0 request, its answer, one after the other. */
#pragma once

#include <stdint.h>

#include <jansson.h>

#define SERVER_LINK_PATIENCE_MS 2000 /* for an answer */

struct server_link {
	const char *path; /* of the socket; must live on */
	int fd; /* -1: not connected */
	uint64_t id; /* of the last request */
	const char *trouble; /* what was wrong with the last call, one of few; NULL: nothing */
};

void server_link_init(struct server_link *l, const char *path);

void server_link_close(struct server_link *l);

/*
 * Calls a method, and waits for its answer; `params` is taken over, NULL: it has none. Connects where there is
 * no connection. Returns its result, which the caller owns, or NULL with `trouble` set.
 */
json_t *server_link_call(struct server_link *l, const char *method, json_t *params);
