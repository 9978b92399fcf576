/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/systemd/notify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/log/log.h"

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#define NS_PER_US UINT64_C(1000)
#define STATE_SIZE (NOTIFY_TEXT + 128)

#ifdef HAVE_SYSTEMD

static uint64_t watchdog_ns(void) {
	uint64_t us = 0;
	int ret = sd_watchdog_enabled(0, &us);

	if (ret < 0)
		log_warning("systemd", LOG_NO_FIELDS,
			    "WATCHDOG_USEC or WATCHDOG_PID is invalid: %s; the watchdog is off",
			    strerror(-ret));
	return ret > 0 ? us * NS_PER_US : 0;
}

/* Returns 0 or an errno. */
static int state_send(const char *state) {
	int ret = sd_notify(0, state);

	return ret < 0 ? -ret : 0;
}

#else

static uint64_t watchdog_ns(void) {
	return 0;
}

static int state_send(const char *state) {
	(void)state;
	return 0;
}

#endif

void notify_open(struct notify *n) {
	const char *socket = getenv("NOTIFY_SOCKET");

	*n = (struct notify){.on = socket != NULL && *socket != '\0'};
#ifndef HAVE_SYSTEMD
	if (n->on)
		log_warning("systemd", LOG_NO_FIELDS,
			    "this vcmtsd was built without libsystemd and does not notify "
			    "systemd: the unit needs Type=exec and no WatchdogSec=");
	n->on = false;
#endif
	if (n->on)
		n->watchdog_ns = watchdog_ns();
}

static void notify_send(struct notify *n, const char *state) {
	int error = n->on ? state_send(state) : 0;

	if (error != 0 && !n->complained) {
		n->complained = true;
		log_warning("systemd", LOG_NO_FIELDS,
			    "NOTIFY_SOCKET %s: %s: systemd is not "
			    "notified",
			    getenv("NOTIFY_SOCKET"), strerror(error));
	}
}

static void send_with_status(struct notify *n, const char *what, const char *status) {
	char state[STATE_SIZE];

	snprintf(n->status, sizeof(n->status), "%s", status);
	snprintf(state, sizeof(state), "%sSTATUS=%s", what, n->status);
	notify_send(n, state);
}

void notify_ready(struct notify *n, const char *status) {
	send_with_status(n, "READY=1\n", status);
}

/* Type=notify-reload needs the time: it waits for a later READY=1. */
void notify_reloading(struct notify *n, const char *status) {
	struct timespec t;
	char what[64];

	clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(what, sizeof(what), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n",
		 (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / NS_PER_US);
	send_with_status(n, what, status);
}

void notify_stopping(struct notify *n, const char *status) {
	send_with_status(n, "STOPPING=1\n", status);
}

void notify_status(struct notify *n, const char *status) {
	if (strncmp(n->status, status, sizeof(n->status) - 1) != 0)
		send_with_status(n, "", status);
}

void notify_alive(struct notify *n) {
	notify_send(n, "WATCHDOG=1");
}
