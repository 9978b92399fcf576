/* SPDX-License-Identifier: BSD-3-Clause */
/* vcmtsd reload: lets a running vcmtsd reload its configuration, waits and reports the result. The unit's
 * ExecReload= calls it, as a signal has no result. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "commands/commands.h"
#include "crypto/versions.h"
#include "platform/sockets/socket_peer.h"
#include "server/process.h"

#define SEND_TIMEOUT 10 /* seconds; the answer may take longer */
#define ANSWER_SIZE 65536 /* bytes; an answer is one line of at most RELOAD_LINE bytes, escaped */

enum { OPTION_SOCKET = 256, OPTION_FORCE, OPTION_SIGNAL };

struct reload_options {
	const char *path;
	pid_t process; /* 0: none */
	bool force;
};

static const struct argp_option options[] = {
	{"control-socket", OPTION_SOCKET, "PATH", 0, "control socket of the running vcmtsd", 0},
	{"force", OPTION_FORCE, NULL, 0,
	 "undo changes that requests made since the file was loaded or saved; otherwise the "
	 "reload is refused if it would undo some",
	 0},
	{"signal", OPTION_SIGNAL, "PID", 0,
	 "if nothing listens on the socket, send SIGHUP to this process; its log has the result",
	 0},
	{0},
};

static error_t option(int key, char *value, struct argp_state *state) {
	struct reload_options *o = state->input;
	char *end;
	long number;

	switch (key) {
	case OPTION_SOCKET: o->path = value; return 0;
	case OPTION_FORCE: o->force = true; return 0;
	case OPTION_SIGNAL:
		number = strtol(value, &end, 10);
		if (value[0] < '0' || value[0] > '9' || *end != '\0' || number < 1 ||
		    number > INT32_MAX)
			argp_error(state, "--signal: found \"%s\", allowed: a process ID", value);
		o->process = (pid_t)number;
		return 0;
	case ARGP_KEY_END:
		if (o->path == NULL)
			argp_error(state, "--control-socket: a path is needed; vcmtsd logs its "
					  "path at start");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Sends the request and reads the line of the answer. Returns NULL if the server disconnects. */
static json_t *reload_call(int fd, bool force) {
	static char answer[ANSWER_SIZE];
	char request[128];
	size_t used = 0;
	ssize_t n;

	n = snprintf(request, sizeof(request),
		     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"config.reload\","
		     "\"params\":{\"force\":%s}}\n",
		     force ? "true" : "false");
	if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
		return NULL;
	while (used < sizeof(answer) && memchr(answer, '\n', used) == NULL) {
		n = recv(fd, answer + used, sizeof(answer) - used, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		used += (size_t)n;
	}
	return json_loadb(answer, used, JSON_DISABLE_EOF_CHECK, NULL);
}

/* Prints the result. Returns the exit status. */
static int reload_report(const json_t *answer) {
	const char *done =
		json_string_value(json_object_get(json_object_get(answer, "result"), "done"));
	const char *why =
		json_string_value(json_object_get(json_object_get(answer, "error"), "message"));

	if (done != NULL) {
		printf("%s\n", done);
		return 0;
	}
	fprintf(stderr, "vcmtsd reload: refused: %s\n",
		why != NULL ? why
			    : "vcmtsd ended the connection without an answer; its log has "
			      "the reason");
	return EXIT_FAILED;
}

/* Without a server at the socket: signals the process of --signal. Returns the exit status. */
static int reload_signal(const struct reload_options *o) {
	if (o->process == 0) {
		fprintf(stderr,
			"vcmtsd reload: %s: no vcmtsd listens on this socket; vcmtsd logs its "
			"path at start\n",
			o->path);
		return EXIT_USAGE;
	}
	if (kill(o->process, SIGHUP) != 0) {
		fprintf(stderr, "vcmtsd reload: process %d: %s\n", (int)o->process,
			strerror(errno));
		return EXIT_FAILED;
	}
	printf("no vcmtsd listens on %s: sent SIGHUP to process %d; its log has the result\n",
	       o->path, (int)o->process);
	return 0;
}

int command_reload(int argc, char **argv) {
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Lets a running vcmtsd reload its configuration file, and waits for the "
		       "result. The exit status is 1 if the reload was refused; then nothing has "
		       "changed.",
	};
	struct reload_options o = {0};
	char fault[SOCKET_PEER_LINE];
	json_t *answer;
	int fd, status;

	versions_parse(&argp, argc, argv, &o);
	fd = socket_peer_connect(o.path, SEND_TIMEOUT, fault);
	if (fd < 0 && (errno == ENOENT || errno == ECONNREFUSED))
		return reload_signal(&o);
	if (fd < 0) {
		fprintf(stderr, "vcmtsd reload: %s: %s\n", o.path, fault);
		return EXIT_USAGE;
	}
	answer = reload_call(fd, o.force);
	close(fd);
	status = reload_report(answer);
	json_decref(answer);
	return status;
}
