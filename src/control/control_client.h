/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the control socket: its partial request and its unsent responses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/answer_text.h"
#include "control/json_text.h"
#include "control/rpc.h"

struct control_client {
	int fd; /* -1: the slot is free */
	char *in;
	size_t in_used, in_capacity;
	size_t parsed; /* bytes of `in` that `text` has parsed */
	struct json_text text;
	struct rpc_work *work; /* the request in progress; NULL: none */
	struct answer_text out; /* unsent responses and events */
	bool ends; /* close the connection after the response: the input contained no request */
	bool broken; /* the connection is unusable: close it */
	struct event_subscriber events;
	uint64_t since_ms; /* time of the last progress */
};

/* Takes ownership of the connection `fd`. */
void control_client_open(struct control_client *c, int fd, uint64_t now_ms);

/* Events for poll(). A client with a request in progress or an unsent response is not read. */
short control_client_events(const struct control_client *c);

/* Reads and writes without blocking, and runs at most one step of a request. A request that only
 * reads is left to control_client_read_on(). Returns whether the client is still connected. */
bool control_client_serve(struct control_client *c, const struct rpc *rpc, uint64_t now_ms);

/* Continues a request that only reads. Returns whether the client is still connected. */
bool control_client_read_on(struct control_client *c, const struct rpc *rpc, uint64_t now_ms);

/* Sends pending events to a subscriber without blocking. */
void control_client_push(struct control_client *c, const struct rpc *rpc, uint64_t now_ms);

/* Whether a request is in progress and waits for something. */
bool control_client_waits(const struct control_client *c);

/* Whether a request is in progress and its next step only reads. */
bool control_client_reads(const struct control_client *c);

/* Whether the client needs service even if poll() reports no event for it. */
bool control_client_has_more(const struct control_client *c);

/* Whether a request, a response or events are incomplete. */
bool control_client_is_busy(const struct control_client *c);

/* Whether another client may get its slot: it is neither busy nor a subscriber. */
bool control_client_evictable(const struct control_client *c);

/* Closes the connection and moves unsent text to `unsent`. Returns the request in progress, which
 * the caller must abandon; NULL: none. */
struct rpc_work *control_client_close(struct control_client *c, const struct rpc *rpc,
				      struct answer_text *unsent);
