/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

void fake_server_tell(struct fake_server *s, int group, const char *kind, const char *action,
		      json_t *object) {
	json_array_append_new(s->objects,
			      json_pack("{s:i, s:s, s:s, s:o}", "group", group, "kind", kind,
					"action", action, "object", json_deep_copy(object)));
}

/* Takes the message over. */
static void line_send(int fd, json_t *message) {
	char *text = json_dumps(message, JSON_COMPACT);
	size_t size = strlen(text);

	text[size++] = '\n'; /* in the place of the end */
	for (size_t sent = 0; sent < size;) {
		ssize_t n = send(fd, text + sent, size - sent, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	free(text);
	json_decref(message);
}

static json_t *result_of(struct fake_server *s, const char *method, const json_t *params, int fd) {
	if (strcmp(method, "server.info") == 0) {
		s->infos++;
		return json_pack("{s:i, s:s}", "generation", s->generation, "name", "fake");
	}
	if (!json_is_true(json_object_get(params, "keys")))
		return NULL;
	if (strcmp(method, "events.subscribe") == 0) {
		s->subscriber = fd;
		return json_pack("{s:i, s:i}", "sequence", s->sequence, "generation",
				 s->generation);
	}
	if (strcmp(method, "config.get") != 0)
		return NULL;
	s->asked++;
	return json_pack("{s:i, s:i, s:o}", "generation", s->generation, "sequence", s->sequence,
			 "config", json_deep_copy(s->config));
}

static json_t *answer_of(struct fake_server *s, const json_t *request, int fd) {
	const char *method = json_string_value(json_object_get(request, "method"));
	json_t *result = NULL;

	if (method != NULL)
		result = result_of(s, method, json_object_get(request, "params"), fd);
	if (s->rude)
		json_object_clear(result);
	if (result == NULL)
		return json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id",
				 json_object_get(request, "id"), "error", "code", -32601, "message",
				 "no such method");
	return json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", json_object_get(request, "id"),
			 "result", result);
}

/* For json_load_callback(). */
static size_t read_some(void *buffer, size_t size, void *context) {
	ssize_t n = recv(*(int *)context, buffer, size, 0);

	return n > 0 ? (size_t)n : (size_t)-1;
}

static void client_serve(struct fake_server *s, int fd) {
	json_t *request;

	while ((request = json_load_callback(read_some, &fd, JSON_DISABLE_EOF_CHECK, NULL)) !=
	       NULL) {
		pthread_mutex_lock(&s->lock);
		if (s->busy && strcmp(json_string_value(json_object_get(request, "method")),
				      "server.info") == 0) {
			json_decref(s->unanswered);
			s->unanswered = json_incref(request);
		} else {
			line_send(fd, answer_of(s, request, fd));
		}
		pthread_mutex_unlock(&s->lock);
		json_decref(request);
	}
	pthread_mutex_lock(&s->lock);
	s->subscriber = -1;
	pthread_mutex_unlock(&s->lock);
	close(fd);
}

static void *server_run(void *server) {
	struct fake_server *s = server;
	int fd;

	while ((fd = accept(s->listener, NULL, NULL)) >= 0)
		client_serve(s, fd);
	return NULL;
}

void fake_server_open(struct fake_server *s, json_t *config) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->config = config;
	s->objects = json_array();
	s->generation = 1;
	s->sequence = 41;
	s->subscriber = -1;
	snprintf(s->path, sizeof(s->path), "/tmp/fake-server-%d", (int)getpid());
	unlink(s->path);
	strcpy(address.sun_path, s->path);
	s->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(s->listener, 4), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, server_run, s), 0);
}

void fake_server_close(struct fake_server *s) {
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->listener);
	unlink(s->path);
	json_decref(s->config);
	json_decref(s->objects);
	json_decref(s->unanswered);
	pthread_mutex_destroy(&s->lock);
}

json_t *fake_server_begin(struct fake_server *s) {
	pthread_mutex_lock(&s->lock);
	return s->config;
}

/* Takes the event over. */
static void event_send(struct fake_server *s, const char *name, json_t *event) {
	json_object_set_new(event, "event", json_string(name));
	json_object_set_new(event, "change", json_integer(s->change));
	json_object_set_new(event, "sequence", json_integer(s->sequence++));
	if (s->subscriber < 0 || s->slow)
		json_decref(event);
	else
		line_send(s->subscriber, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
						   "event", "params", event));
}

static void missed_send(struct fake_server *s, int first) {
	if (s->subscriber >= 0)
		line_send(s->subscriber,
			  json_pack("{s:s, s:s, s:{s:s, s:i, s:i, s:i}}", "jsonrpc", "2.0",
				    "method", "event", "params", "event", "missed", "sequence",
				    s->sequence, "first", first, "next", s->sequence));
}

void fake_server_prepare(struct fake_server *s) {
	int first = s->sequence;
	json_t *object;
	size_t i;

	s->change++;
	s->generation++;
	event_send(s, "prepared",
		   json_pack("{s:i, s:i}", "generation", s->generation, "objects",
			     (int)json_array_size(s->objects)));
	json_array_foreach(s->objects, i, object) event_send(s, "object", json_incref(object));
	json_array_clear(s->objects);
	if (s->slow)
		missed_send(s, first);
}

void fake_server_apply(struct fake_server *s) {
	int first = s->sequence;

	event_send(s, "applied", json_pack("{s:i}", "generation", s->generation));
	event_send(s, "retired", json_object());
	if (s->slow)
		missed_send(s, first);
}

void fake_server_end(struct fake_server *s) {
	fake_server_prepare(s);
	fake_server_apply(s);
	pthread_mutex_unlock(&s->lock);
}

void fake_server_answer(struct fake_server *s) {
	pthread_mutex_lock(&s->lock);
	if (s->unanswered != NULL && s->subscriber >= 0)
		line_send(s->subscriber, answer_of(s, s->unanswered, s->subscriber));
	json_decref(s->unanswered);
	s->unanswered = NULL;
	pthread_mutex_unlock(&s->lock);
}
