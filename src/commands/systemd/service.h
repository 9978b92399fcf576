/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server as a service: its manager is told that it is there, that it lives, and what it does (docs/service.md). By
 * the control thread, in this order; each is harmless where nobody manages it.
 */
#pragma once

#include "commands/systemd/notify.h"
#include "commands/systemd/watch.h"
#include "server/reload.h"
#include "server/server.h"

#define SERVICE_STATUS_NS UINT64_C(1000000000) /* between two looks at what is in service */

struct service {
	struct server *server;
	struct notify notify;
	struct watch watch;
	uint64_t alive, status_looked; /* ns */
};

/* Before the workers run; and when they do: packets can come. */
void service_open(struct service *v, struct server *s);
void service_ready(struct service *v);

/* Often, while they do. */
void service_round(struct service *v);

/* The same at a time of a clock of the caller's, ns. */
void service_round_at(struct service *v, uint64_t now);

/* From now on whenever the file is read again, whoever asked for it. `v` must live as long as `r`. */
void service_watch_reloads(struct service *v, struct reload *r);

/* Before the workers end. */
void service_stopping(struct service *v);

/* What is in service, for people. */
void service_status(const struct server *s, char text[NOTIFY_TEXT]);
