/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports start, liveness and status of the server to systemd (docs/install.md). The control thread
 * calls the functions in this order; they do nothing without systemd. */
#pragma once

#include "commands/systemd/notify.h"
#include "commands/systemd/watch.h"
#include "server/reload.h"
#include "server/server.h"

#define SERVICE_STATUS_NS UINT64_C(1000000000) /* interval of status updates */

struct service {
	struct server *server;
	const struct reload *reload; /* NULL: reloads are not reported */
	struct notify notify;
	struct watch watch;
	uint64_t alive, status_checked; /* ns */
};

/* Before the workers run; and once they run and packets can arrive. */
void service_open(struct service *v, struct server *s);
void service_ready(struct service *v);

/* Often, while the workers run. */
void service_round(struct service *v);

/* The same with a time of the caller's clock, ns. */
void service_round_at(struct service *v, uint64_t now);

/* From now on, reports all reloads. `v` must outlive `r`. */
void service_watch_reloads(struct service *v, struct reload *r);

/* Before the workers end. */
void service_stopping(struct service *v);

/* A status text for people. `refused`: the line of a refused reload; NULL: none. */
void service_status(const struct server *s, const char *refused, char text[NOTIFY_TEXT]);
