/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends JSON-RPC requests to the control socket, and reads responses and events. */
#include "follow/server_link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "platform/secret/secret_json.h"
#include "platform/secret/secret_memory.h"

#define READ_SIZE 65536 /* minimum free bytes before each recv() */
#define MESSAGE_MAX ((size_t)64 << 20) /* bytes; exceeds every response of vcmtsd */

#define NO_SERVER "no server listens at this socket"

void server_link_init(struct server_link *l, const char *path) {
	*l = (struct server_link){.path = path, .fd = -1};
}

void server_link_close(struct server_link *l) {
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	secret_free(l->bytes); /* messages may contain keys */
	l->bytes = NULL;
	l->first = l->count = l->size = l->scanned = 0;
	json_decref(l->early);
	l->early = NULL;
}

static json_t *fail(struct server_link *l, const char *error) {
	server_link_close(l);
	l->error = error;
	return NULL;
}

/* Connects, but only to a server of a trusted user. Returns NULL, or the error. */
static const char *link_connect(struct server_link *l) {
	if (l->fd >= 0)
		return NULL;
	l->fd = socket_peer_connect(l->path, SERVER_LINK_TIMEOUT_MS / 1000, l->peer);
	if (l->fd >= 0)
		return NULL;
	return errno == ENOENT || errno == ECONNREFUSED ? NO_SERVER : l->peer;
}

static bool link_send(struct server_link *l, const char *text) {
	size_t size = text == NULL ? 0 : strlen(text);

	for (size_t sent = 0; sent < size;) {
		ssize_t n = send(l->fd, text + sent, size - sent, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	return size > 0;
}

uint64_t server_link_send(struct server_link *l, const char *method, json_t *params) {
	json_t *request = json_pack("{s:s, s:s, s:I}", "jsonrpc", "2.0", "method", method, "id",
				    (json_int_t)++l->id);
	const char *error;
	char *text;
	bool sent;

	l->error = NULL;
	if (params != NULL)
		json_object_set_new(request, "params", params);
	text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	error = link_connect(l);
	if (error != NULL) {
		secret_free(text);
		fail(l, error);
		return 0;
	}
	sent = link_send(l, text) && link_send(l, "\n");
	secret_free(text);
	if (!sent)
		fail(l, "the request cannot be sent to the server");
	return sent ? l->id : 0;
}

/* Makes READ_SIZE bytes free after the received ones, and reuses the memory of parsed messages. */
static bool link_grow(struct server_link *l) {
	size_t size = l->count + READ_SIZE;
	char *bytes;

	if (l->first > 0) {
		memmove(l->bytes, l->bytes + l->first, l->count);
		l->first = 0;
	}
	if (size <= l->size)
		return true;
	size += l->count; /* limits how often a long message is copied */
	bytes = size > MESSAGE_MAX ? NULL : secret_realloc(l->bytes, size);
	if (bytes == NULL)
		return false;
	l->bytes = bytes;
	l->size = size;
	return true;
}

/* Waits up to `wait_ms` and receives. Returns false if nothing arrived or the connection broke. */
static bool link_read(struct server_link *l, int wait_ms) {
	struct pollfd ready = {.fd = l->fd, .events = POLLIN};
	ssize_t n;

	if (poll(&ready, 1, wait_ms) <= 0)
		return false;
	if (!link_grow(l)) {
		fail(l, "the server sent a message that is too long");
		return false;
	}
	n = recv(l->fd, l->bytes + l->count, l->size - l->count, MSG_DONTWAIT);
	if (n <= 0) {
		fail(l, "the server closed the connection");
		return false;
	}
	l->count += (size_t)n;
	return true;
}

/* The end of the first complete line; NULL: none. */
static char *line_end(struct server_link *l) {
	char *from = l->bytes + l->first;
	char *end = l->count > l->scanned ? memchr(from + l->scanned, '\n', l->count - l->scanned)
					  : NULL;

	l->scanned = end == NULL ? l->count : 0;
	return end;
}

static json_t *line_next(struct server_link *l, const char *end) {
	const char *line = l->bytes + l->first;
	size_t size = (size_t)(end - line);
	json_t *message = secret_json_load(line, size, 0, NULL);

	l->first += size + 1;
	l->count -= size + 1;
	return json_is_object(message) ? message : (json_decref(message), NULL);
}

/* Gets the next message from the socket; ignores `early`. */
static json_t *message_next(struct server_link *l, int wait_ms) {
	char *end = line_end(l);
	json_t *message;

	while (end == NULL) {
		if (!link_read(l, wait_ms))
			return NULL;
		end = line_end(l);
	}
	message = line_next(l, end);
	return message != NULL ? message : fail(l, "the server sent an invalid message");
}

json_t *server_link_next(struct server_link *l, int wait_ms) {
	json_t *message = json_array_get(l->early, 0);

	if (l->fd < 0)
		return fail(l, "the server closed the connection");
	if (message == NULL)
		return message_next(l, wait_ms);
	json_incref(message);
	json_array_remove(l->early, 0);
	return message;
}

static json_t *result_of(struct server_link *l, json_t *answer) {
	json_t *result = json_object_get(answer, "result");

	if (result == NULL)
		l->error = "the server refused the request";
	json_incref(result);
	json_decref(answer);
	return result;
}

static bool is_answer(const json_t *message, uint64_t id) {
	return json_object_get(message, "method") == NULL &&
	       (uint64_t)json_integer_value(json_object_get(message, "id")) == id;
}

static int64_t now_ms(void) {
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

json_t *server_link_call(struct server_link *l, const char *method, json_t *params) {
	uint64_t id = server_link_send(l, method, params);
	int64_t until = now_ms() + SERVER_LINK_TIMEOUT_MS;

	while (id != 0 && l->fd >= 0 && now_ms() < until) {
		json_t *message = message_next(l, SERVER_LINK_TIMEOUT_MS);

		if (message == NULL)
			break;
		if (is_answer(message, id))
			return result_of(l, message);
		if (l->early == NULL)
			l->early = json_array();
		json_array_append_new(l->early, message);
	}
	return l->error != NULL ? NULL : fail(l, "the server did not respond in time");
}
