/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture socket of a server in service, and the thread that serves it. A client sends its wish, one line of JSON,
 * gets one line of JSON, and then a file, until either closes (docs/capture.md).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/live/captures.h"
#include "capture/live/client.h"
#include "control/listener.h"

#define TAP_CLIENTS (2 * TAP_CAPTURES) /* with those whose wish has not come */

struct tap_service {
	struct listener listener;
	struct tap_captures captures;
	struct tap_client clients[TAP_CLIENTS];
	pthread_t thread;
	int wake; /* eventfd: the thread is to look */
	bool runs, stop, opened;
};

/* Makes the socket in the zeroed `t`. Who connects waits. Returns 0, or -1 after a message. */
int tap_service_listen(struct tap_service *t, const char *path, unsigned mode);

/* Serves it, in a thread that runs where the calling one may. Returns 0, or -1 after a message. */
int tap_service_start(struct tap_service *t, struct server *server);

/* The control thread's, often: captures begin, end, and follow the server's changes. */
void tap_service_follow(struct tap_service *t);

/* Ends all captures, whose files are told so, while the workers still run or not. Harmless on a zeroed one. */
void tap_service_close(struct tap_service *t);
