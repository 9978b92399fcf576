/* SPDX-License-Identifier: BSD-3-Clause */
#include "follow/server_link.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "secret/secret_memory.h"

void server_link_init(struct server_link *l, const char *path) {
	*l = (struct server_link){.path = path, .fd = -1};
}

void server_link_close(struct server_link *l) {
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

static json_t *fail(struct server_link *l, const char *trouble) {
	server_link_close(l);
	l->trouble = trouble;
	return NULL;
}

static bool link_connect(struct server_link *l) {
	struct timeval patience = {.tv_sec = SERVER_LINK_PATIENCE_MS / 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (l->fd >= 0)
		return true;
	if (strlen(l->path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, l->path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return false;
	setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return connect(l->fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
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

/* What is read beyond the answer is white space: nothing else is on its way. */
static size_t link_receive(void *buffer, size_t size, void *context) {
	const struct server_link *l = context;
	ssize_t n = recv(l->fd, buffer, size, 0);

	return n > 0 ? (size_t)n : (size_t)-1;
}

static json_t *result_of(struct server_link *l, json_t *answer) {
	json_t *result = json_object_get(answer, "result");

	if ((uint64_t)json_integer_value(json_object_get(answer, "id")) != l->id)
		return fail(l, "it answers another request");
	if (result == NULL)
		l->trouble = "it refuses the request";
	return json_incref(result);
}

json_t *server_link_call(struct server_link *l, const char *method, json_t *params) {
	json_t *request = json_pack("{s:s, s:s, s:I}", "jsonrpc", "2.0", "method", method, "id",
				    (json_int_t)++l->id);
	json_t *answer, *result;
	char *text;
	bool sent;

	l->trouble = NULL;
	if (params != NULL)
		json_object_set_new(request, "params", params);
	text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (!link_connect(l)) {
		secret_free(text);
		return fail(l, "nobody answers there");
	}
	sent = link_send(l, text) && link_send(l, "\n");
	secret_free(text);
	if (!sent)
		return fail(l, "it takes no request");
	answer = json_load_callback(link_receive, l, JSON_DISABLE_EOF_CHECK, NULL);
	if (answer == NULL)
		return fail(l, "it gives no answer");
	result = result_of(l, answer);
	json_decref(answer);
	return result;
}
