/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture socket of a running server, and the thread that serves it. A client sends a request of one JSON
 * line, and receives one JSON line and a capture file, until either closes (docs/capture.md).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/live/captures.h"
#include "capture/live/client.h"
#include "control/listener.h"

#define TAP_CLIENTS (2 * TAP_CAPTURES) /* includes clients that have not sent their request */

struct tap_service {
	struct listener listener;
	struct tap_captures captures;
	struct tap_client clients[TAP_CLIENTS];
	pthread_t thread;
	int wake; /* eventfd that wakes the thread */
	bool runs, stop, opened;
};

/* Creates the socket; `t` is zeroed. Clients may connect and wait. Returns 0, or -1 after a message. */
int tap_service_listen(struct tap_service *t, const char *path, unsigned mode);

/* Starts the thread, with the CPU affinity of the caller. Returns 0, or -1 after a message. */
int tap_service_start(struct tap_service *t, struct server *server);

/* The control thread calls it often: starts and ends captures, and follows changes of the server. */
void tap_service_update(struct tap_service *t);

/* Ends all captures and their files. Workers may still run. Does nothing for a zeroed service. */
void tap_service_close(struct tap_service *t);
