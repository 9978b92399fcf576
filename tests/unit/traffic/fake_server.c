/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

static json_t *answer_of(struct fake_server *s, const json_t *request) {
	const char *method = json_string_value(json_object_get(request, "method"));
	json_t *params = json_object_get(request, "params"), *result = NULL;

	pthread_mutex_lock(&s->lock);
	if (method != NULL && strcmp(method, "server.info") == 0) {
		result = json_pack("{s:i, s:s}", "generation", s->generation, "name", "fake");
	} else if (method != NULL && strcmp(method, "config.get") == 0 &&
		   json_is_true(json_object_get(params, "keys"))) {
		s->asked++;
		result = json_pack("{s:i, s:o}", "generation", s->generation, "config",
				   json_deep_copy(s->config));
	}
	if (s->rude)
		json_object_clear(result);
	pthread_mutex_unlock(&s->lock);
	if (result == NULL)
		return json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id",
				 json_object_get(request, "id"), "error", "code", -32601, "message",
				 "no such method");
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", json_object_get(request, "id"),
			 "result", result);
}

static size_t read_some(void *buffer, size_t size, void *context) {
	ssize_t n = recv(*(int *)context, buffer, size, 0);

	return n > 0 ? (size_t)n : (size_t)-1;
}

static void client_serve(struct fake_server *s, int fd) {
	json_t *request;

	while ((request = json_load_callback(read_some, &fd, JSON_DISABLE_EOF_CHECK, NULL)) !=
	       NULL) {
		json_t *answer = answer_of(s, request);
		char *text = json_dumps(answer, 0);
		size_t size = strlen(text);

		for (size_t sent = 0; sent < size;) {
			ssize_t n = send(fd, text + sent, size - sent, MSG_NOSIGNAL);

			if (n <= 0)
				break;
			sent += (size_t)n;
		}
		free(text);
		json_decref(answer);
		json_decref(request);
	}
	close(fd);
}

static void *server_run(void *server) {
	struct fake_server *s = server;
	int fd;

	while ((fd = accept(s->listener, NULL, NULL)) >= 0)
		client_serve(s, fd);
	return NULL;
}

void fake_server_open(struct fake_server *s, const char *config) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->config = json_loads(config, 0, NULL);
	assert_non_null(s->config);
	s->generation = 1;
	snprintf(s->path, sizeof(s->path), "/tmp/fake-server-%d", (int)getpid());
	unlink(s->path);
	strcpy(address.sun_path, s->path);
	s->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(s->listener, 4), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, server_run, s), 0);
}

/* Clients must have gone. */
void fake_server_close(struct fake_server *s) {
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->listener);
	unlink(s->path);
	json_decref(s->config);
	pthread_mutex_destroy(&s->lock);
}

json_t *fake_server_begin(struct fake_server *s) {
	pthread_mutex_lock(&s->lock);
	return s->config;
}

void fake_server_end(struct fake_server *s) {
	s->generation++;
	pthread_mutex_unlock(&s->lock);
}
