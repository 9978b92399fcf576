/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What systemd is told, by the socket that it names in NOTIFY_SOCKET (sd_notify(3)). Where it names none nothing
 * happens; where it cannot be told, this is said once, and the service goes on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NOTIFY_TEXT 256 /* bytes of a status, for people */

struct notify {
	bool on;
	bool complained;
	uint64_t watchdog_ns; /* so long it waits for notify_alive(); 0: it does not wait */
	char status[NOTIFY_TEXT]; /* that was told last */
};

/* Looks into the environment. */
void notify_open(struct notify *n);

/* Packets can come; also when the file has been read again. */
void notify_ready(struct notify *n, const char *status);

/* The file is being read again. */
void notify_reloading(struct notify *n, const char *status);
void notify_stopping(struct notify *n, const char *status);

/* What is in service, where it has changed. */
void notify_status(struct notify *n, const char *status);

void notify_alive(struct notify *n);
