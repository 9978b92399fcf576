/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/run_control.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/run_folder.h"
#include "platform/log/log.h"

#define STALL_MS 10000

/* Opens the default path. Returns 0, also if that fails. */
static int open_somewhere(struct run_control *c, struct control_options *o) {
	char folder[PATH_MAX], why[OWNED_FOLDER_LINE];
	const char *fault = run_folder(folder, sizeof(folder), why);

	if ((size_t)snprintf(c->path, sizeof(c->path), "%s/%d-control.sock", folder,
			     (int)getpid()) >= sizeof(c->path))
		fault = "this name is too long";
	if (fault != NULL)
		log_warning("control", LOG_FIELDS(LOG_STRING("path", folder)),
			    "no control socket: %s: %s; set another path by --control-socket",
			    folder, fault);
	else
		c->socket = control_socket_open(o, &c->rpc); /* logs its failures */
	return 0;
}

static int open_at(struct run_control *c, struct control_options *o, const char *path) {
	snprintf(c->path, sizeof(c->path), "%s", path);
	o->path = path; /* the original, in case `c->path` was cut */
	c->socket = control_socket_open(o, &c->rpc);
	return c->socket != NULL ? 0 : -1;
}

/* Opens the capture socket in the folder of the control socket, if there is one. */
static void open_captures(struct run_control *c, unsigned mode) {
	const char *slash = strrchr(c->path, '/');
	int folder = slash != NULL ? (int)(slash + 1 - c->path) : 0;
	char path[RUN_CONTROL_PATH + 32];

	if (c->socket == NULL)
		return;
	snprintf(path, sizeof(path), "%.*s%d-capture.sock", folder, c->path, (int)getpid());
	if (tap_service_listen(&c->captures, path, mode) != 0)
		tap_service_close(&c->captures);
}

int run_control_open(struct run_control *c, const char *path, unsigned mode) {
	struct control_options o = {.path = c->path, .mode = mode, .stall_ms = STALL_MS};
	int ret = 0;

	events_open(&c->methods.events);
	c->rpc = methods_rpc(&c->methods);
	if (path == NULL)
		ret = open_somewhere(c, &o);
	else if (strcmp(path, RUN_CONTROL_NONE) != 0)
		ret = open_at(c, &o, path);
	open_captures(c, mode);
	return ret;
}

void run_control_start(struct run_control *c, struct server *server) {
	events_watch(&c->methods.events, server);
	if (c->captures.opened && tap_service_start(&c->captures, server) != 0)
		tap_service_close(&c->captures);
}

void run_control_log(const struct run_control *c) {
	if (c->socket != NULL)
		log_notice("control", LOG_FIELDS(LOG_STRING("path", c->path)), "control socket %s",
			   c->path);
}

void run_control_serve(struct run_control *c, int timeout_ms) {
	if (c->socket != NULL)
		control_socket_serve(c->socket, timeout_ms);
	else
		usleep((useconds_t)timeout_ms * 1000);
	tap_service_update(&c->captures);
}

void run_control_close(struct run_control *c) {
	control_socket_close(c->socket);
	c->socket = NULL;
	events_close(&c->methods.events);
	tap_service_close(&c->captures);
}
