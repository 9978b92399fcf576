/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test.h"

/* A list of objects, their kind in events, and the member that names one. */
struct list {
	const char *name, *kind, *id;
};

static const struct list groups = {"service_groups", "group", "service_group"};
/* In an order in which they can be made; modems are last. */
static const struct list lists[] = {
	{"filter_groups", "filter_group", "id"},
	{"channels", "channel", "id"},
	{"upstream_channels", "upstream_channel", "id"},
	{"bonding_groups", "bonding_group", "id"},
	{"modems", "modem", "mac"},
};

#define MODEMS (&lists[ARRAY_COUNT(lists) - 1])

/* What differs between two configurations, as the objects of the events that tell it. */
struct telling {
	json_t *events;
	int group;
};

/* Takes the object over. */
static void tell(struct telling *t, const char *kind, const char *action, json_t *object) {
	json_array_append_new(t->events,
			      json_pack("{s:i, s:s, s:s, s:o}", "group", t->group, "kind", kind,
					"action", action, "object", object));
}

static json_t *find(const json_t *in, const struct list *list, const json_t *item) {
	json_t *other;
	size_t i;

	json_array_foreach(json_object_get(in, list->name), i, other) {
		if (json_equal(json_object_get(other, list->id), json_object_get(item, list->id)))
			return other;
	}
	return NULL;
}

static bool keys_alone(json_t *before, const json_t *after) {
	json_t *other = json_copy(before);
	bool same;

	json_object_set(other, "security", json_object_get(after, "security"));
	same = json_equal(other, after);
	json_decref(other);
	return same;
}

static void tell_put(struct telling *t, const json_t *before, const json_t *after,
		     const struct list *list) {
	json_t *item, *was;
	size_t i;

	json_array_foreach(json_object_get(after, list->name), i, item) {
		was = find(before, list, item);
		if (was == NULL)
			tell(t, list->kind, "added", json_incref(item));
		else if (!json_equal(was, item) && list == MODEMS && keys_alone(was, item))
			tell(t, "key", "changed", json_incref(json_object_get(item, "security")));
		else if (!json_equal(was, item))
			tell(t, list->kind, "changed", json_incref(item));
	}
}

static void tell_gone(struct telling *t, const json_t *before, const json_t *after,
		      const struct list *list) {
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(before, list->name), i, item) {
		if (find(after, list, item) == NULL)
			tell(t, list->kind, "removed",
			     json_pack("{s:O}", list->id, json_object_get(item, list->id)));
	}
}

static void tell_group(struct telling *t, const json_t *before, const json_t *after) {
	for (const struct list *l = lists; l < MODEMS; l++)
		tell_put(t, before, after, l);
	tell_gone(t, before, after, MODEMS);
	tell_put(t, before, after, MODEMS);
	for (const struct list *l = MODEMS; l-- > lists;)
		tell_gone(t, before, after, l);
}

/* A configuration of one group is that group. */
static json_t *groups_of(json_t *config) {
	return json_object_get(config, groups.name) != NULL
		       ? json_incref(config)
		       : json_pack("{s:[O]}", groups.name, config);
}

static json_t *events_of(json_t *before, json_t *after) {
	json_t *was = groups_of(before), *is = groups_of(after), *group, *other;
	struct telling t = {.events = json_array()};
	size_t i;

	json_array_foreach(json_object_get(was, groups.name), i, group) {
		t.group = atoi(json_string_value(json_object_get(group, groups.id)));
		other = find(is, &groups, group);
		if (other == NULL)
			tell(&t, groups.kind, "removed", json_pack("{s:i}", "id", t.group));
		else
			tell_group(&t, group, other);
	}
	json_array_foreach(json_object_get(is, groups.name), i, group) {
		t.group = atoi(json_string_value(json_object_get(group, groups.id)));
		if (find(was, &groups, group) == NULL)
			tell(&t, groups.kind, "added", json_incref(group));
	}
	json_decref(was);
	json_decref(is);
	return t.events;
}

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

static json_t *subscribe(struct fake_server *s, const json_t *params, int fd) {
	if (!json_is_true(json_object_get(params, "keys")))
		return NULL;
	s->subscriber = fd;
	return json_pack("{s:i, s:i}", "sequence", s->sequence, "generation", s->generation);
}

static json_t *result_of(struct fake_server *s, const char *method, const json_t *params, int fd) {
	if (strcmp(method, "events.subscribe") == 0)
		return subscribe(s, params, fd);
	if (strcmp(method, "server.info") == 0) {
		s->infos++;
		return json_pack("{s:i, s:s}", "generation", s->generation, "name", "fake");
	}
	if (strcmp(method, "config.get") != 0 || !json_is_true(json_object_get(params, "keys")))
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

static size_t read_some(void *buffer, size_t size, void *context) {
	ssize_t n = recv(*(int *)context, buffer, size, 0);

	return n > 0 ? (size_t)n : (size_t)-1;
}

static bool waits(const struct fake_server *s, const json_t *request) {
	const char *method = json_string_value(json_object_get(request, "method"));

	return s->busy && method != NULL && strcmp(method, "server.info") == 0;
}

static void client_serve(struct fake_server *s, int fd) {
	json_t *request;

	while ((request = json_load_callback(read_some, &fd, JSON_DISABLE_EOF_CHECK, NULL)) !=
	       NULL) {
		pthread_mutex_lock(&s->lock);
		if (waits(s, request)) {
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
	s->told = json_deep_copy(s->config);
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

/* Clients must have gone. */
void fake_server_close(struct fake_server *s) {
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->listener);
	unlink(s->path);
	json_decref(s->config);
	json_decref(s->told);
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
	json_t *objects = events_of(s->told, s->config), *object;
	int first = s->sequence;
	size_t i;

	s->change++;
	s->generation++;
	event_send(s, "prepared",
		   json_pack("{s:i, s:i}", "generation", s->generation, "objects",
			     (int)json_array_size(objects)));
	json_array_foreach(objects, i, object) event_send(s, "object", json_deep_copy(object));
	json_decref(objects);
	json_decref(s->told);
	s->told = json_deep_copy(s->config);
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
