/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the capture socket: its wish, the answer, and the file, until either closes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/live/captures.h"
#include "capture/live/output.h"

struct tap_client {
	int fd; /* -1: nobody is there; the place is free when `capture` is NULL, too */
	struct tap_captures *captures;
	struct tap_capture *capture; /* NULL: none yet */
	uint64_t since_ms; /* when it last got on */
	uint64_t told_ms; /* when the file last said what it came to */
	uint64_t ends_at; /* ns; 0: never */
	bool streaming; /* the answer is in `output`, or was sent */
	bool quits; /* it wants no more */
	const char *why; /* the file ends; NULL: not yet */
	bool finished; /* the file's end is in `output`, or was sent */
	unsigned wish_size;
	char wish[TAP_WISH_MAX];
	struct tap_output output;
};

/* Takes the socket of a client, which is nonblocking. */
void tap_client_open(struct tap_client *c, struct tap_captures *captures, int fd, uint64_t now_ms);

/* Lets the client go. Its capture is freed when the control thread has ended it: to be called until then. */
void tap_client_close(struct tap_client *c);

/* What poll() is to wait for. */
short tap_client_events(const struct tap_client *c);

/* Whether it needs no event to get on. */
bool tap_client_runs(const struct tap_client *c);

/* Goes on. `stop`: vcmtsd ends. Returns false where it is to be closed. */
bool tap_client_serve(struct tap_client *c, short events, uint64_t now_ms, bool stop);

/* Answers in one line, and as far as the socket takes it. */
void tap_refuse(int fd, const char *why);
