/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/systemd/service.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "platform/log/log.h"

/* Divides the watchdog's time: systemd recommends half of it, but small delays must not end the process. */
#define ALIVE_PART 4

static uint64_t service_now(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

void service_status(const struct server *s, const char *refused, char text[NOTIFY_TEXT]) {
	size_t groups = 0, modems = 0, drained = 0, used;
	size_t lacking[SERVER_PORT_STATES] = {0};

	for (unsigned g = 0; g < s->group_count; g++) {
		if (!s->groups[g].in_service)
			continue;
		groups++;
		modems += s->groups[g].live.modems;
		drained += s->groups[g].drained;
		lacking[server_ports_of_group(&s->ports, g)]++;
	}
	snprintf(text, NOTIFY_TEXT, "serving %zu service group%s with %zu modems", groups,
		 groups == 1 ? "" : "s", modems);
	used = strlen(text);
	if (drained > 0)
		used += (size_t)snprintf(text + used, NOTIFY_TEXT - used, ", %zu of them drained",
					 drained);
	if (lacking[SERVER_PORT_DOWN] > 0)
		used += (size_t)snprintf(text + used, NOTIFY_TEXT - used, ", %zu without a link",
					 lacking[SERVER_PORT_DOWN]);
	if (lacking[SERVER_PORT_GONE] > 0)
		used += (size_t)snprintf(text + used, NOTIFY_TEXT - used,
					 ", %zu with a removed port", lacking[SERVER_PORT_GONE]);
	if (refused != NULL)
		snprintf(text + used, NOTIFY_TEXT - used, "; reload refused: %s", refused);
}

static void current_status(const struct service *v, char text[NOTIFY_TEXT]) {
	const struct reload *r = v->reload;

	service_status(v->server, r != NULL && r->refused ? r->line : NULL, text);
}

void service_open(struct service *v, struct server *s) {
	*v = (struct service){.server = s};
	notify_open(&v->notify);
}

void service_ready(struct service *v) {
	char status[NOTIFY_TEXT];
	uint64_t now = service_now();

	watch_open(&v->watch, v->server, now);
	v->alive = v->status_checked = now;
	current_status(v, status);
	notify_ready(&v->notify, status);
}

static void send_alive(struct service *v, uint64_t now) {
	uint64_t watchdog = v->notify.watchdog_ns;

	if (watchdog == 0 || now - v->alive < watchdog / ALIVE_PART ||
	    !watch_all_progressed(&v->watch))
		return;
	v->alive = now;
	notify_alive(&v->notify);
}

void service_round_at(struct service *v, uint64_t now) {
	char status[NOTIFY_TEXT];

	watch_workers(&v->watch, now);
	send_alive(v, now);
	watch_long_rounds(&v->watch, now);
	watch_ports(&v->watch);
	log_tick();
	if (now - v->status_checked < SERVICE_STATUS_NS)
		return;
	v->status_checked = now;
	current_status(v, status);
	notify_status(&v->notify, status);
}

void service_round(struct service *v) {
	service_round_at(v, service_now());
}

static void reload_seen(void *service, enum reload_stage stage) {
	struct service *v = service;
	char status[NOTIFY_TEXT];

	if (stage == RELOAD_BEGINS) {
		notify_reloading(&v->notify, "reloading the configuration");
		return;
	}
	current_status(v, status);
	notify_ready(&v->notify, status);
}

void service_watch_reloads(struct service *v, struct reload *r) {
	r->watcher = reload_seen;
	r->watcher_ctx = v;
	v->reload = r;
}

void service_stopping(struct service *v) {
	notify_stopping(&v->notify, "stopping: pending packets are sent");
}
