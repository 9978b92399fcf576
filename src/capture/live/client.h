/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the capture socket: its request, the answer, and the capture file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/captures.h"
#include "capture/live/output.h"

struct tap_client {
	int fd; /* -1: no client; the slot is free when `capture` is NULL, too */
	struct tap_captures *captures;
	struct tap_capture *capture; /* NULL: not requested yet */
	uint64_t since_ms; /* last progress */
	uint64_t reported_ms; /* when the file last reported its counts */
	uint64_t ends_at; /* ns; 0: never */
	bool streaming; /* the answer was sent or is in `output` */
	bool end_requested; /* the client has requested the end */
	const char *why; /* reason for the end of the file; NULL: not ended */
	bool finished; /* the file's end was sent or is in `output` */
	unsigned request_size;
	char request[TAP_REQUEST_MAX];
	struct tap_output output;
};

/* Takes ownership of the nonblocking socket `fd`. */
void tap_client_open(struct tap_client *c, struct tap_captures *captures, int fd, uint64_t now_ms);

/* Disconnects the client, and frees its capture if that has ended. While tap_client_runs(), call it
 * again. */
void tap_client_close(struct tap_client *c);

/* Events for poll(). */
short tap_client_events(const struct tap_client *c);

/* Whether the client has a capture: then call tap_client_serve() and tap_client_close() also
 * without events. */
bool tap_client_runs(const struct tap_client *c);

/* Serves the client. `stop`: vcmtsd ends. Returns false if the caller must close it. */
bool tap_client_serve(struct tap_client *c, short events, uint64_t now_ms, bool stop);

/* Sends a refusal of one line; does not wait for a full socket. */
void tap_refuse(int fd, const char *why);
