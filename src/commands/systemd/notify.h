/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifies systemd by the socket in NOTIFY_SOCKET (sd_notify(3)). Without that variable nothing is
 * sent. A failure is logged once, and the service continues. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_TEXT 1024 /* bytes of a status text */

struct notify {
	bool on;
	bool complained;
	uint64_t watchdog_ns; /* time within which systemd expects notify_alive(); 0: no watchdog */
	char status[NOTIFY_TEXT]; /* the last status */
};

/* Reads the environment. */
void notify_open(struct notify *n);

/* The server receives packets; also after a reload. */
void notify_ready(struct notify *n, const char *status);

/* A reload begins. */
void notify_reloading(struct notify *n, const char *status);
void notify_stopping(struct notify *n, const char *status);

/* Sends the status if it has changed. */
void notify_status(struct notify *n, const char *status);

void notify_alive(struct notify *n);
