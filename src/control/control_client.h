/* SPDX-License-Identifier: BSD-3-Clause */
/* One client of the control socket: what it has sent of a request, what it has not taken of the answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/answer_text.h"
#include "control/json_text.h"
#include "control/rpc.h"

struct control_client {
	int fd; /* -1: this place is free */
	char *in;
	size_t in_used, in_room;
	size_t looked; /* bytes of `in` that `text` has seen */
	struct json_text text;
	struct rpc_work *work; /* what it has asked for and waits for */
	struct answer_text out; /* what it is to get */
	bool ends; /* once the answer is taken: what it sends is no request */
	bool gone; /* nothing can be sent to it */
	struct event_subscriber events;
	uint64_t since_ms; /* of the latest progress */
};

/* Takes a connection over. */
void control_client_open(struct control_client *c, int fd, uint64_t now_ms);

/* What poll() is to wait for. A client that waits, or does not take its answer, is not read from. */
short control_client_events(const struct control_client *c);

/* Reads and writes what can be without waiting, and answers or goes on with at most one request, unless that only
 * reads. Returns whether the client is still there. */
bool control_client_serve(struct control_client *c, const struct rpc *rpc, uint64_t now_ms);

/* Goes on with a request that only reads. Returns whether the client is still there. */
bool control_client_read_on(struct control_client *c, const struct rpc *rpc, uint64_t now_ms);

/* Sends events that a subscriber has not got, as far as they can be without waiting. */
void control_client_push(struct control_client *c, const struct rpc *rpc, uint64_t now_ms);

/* Whether what it asked for is at work, and waits for something. */
bool control_client_waits(const struct control_client *c);

/* Whether what it asked for is at work, and what comes next of it only reads. */
bool control_client_reads(const struct control_client *c);

/* Whether there is something to do for which nothing need come. */
bool control_client_has_more(const struct control_client *c);

/* Whether it is in the middle of a request or an answer or of events, or waits. */
bool control_client_is_busy(const struct control_client *c);

/* Whether another client may have its slot: it is not busy, and no subscriber. */
bool control_client_may_go(const struct control_client *c);

/* Closes the connection. What it has not taken is moved to `unsent`, and what it has asked for is returned, to be abandoned;
 * NULL: nothing is at work. */
struct rpc_work *control_client_close(struct control_client *c, const struct rpc *rpc,
				      struct answer_text *unsent);
