/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/replay/replay_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/units.h"
#include "platform/secret/json_fault.h"
#include "platform/secret/secret_memory.h"
#include "server/running.h"

#define TIME_TEXT 32

static int no_memory(void) {
	fprintf(stderr, "replay: no memory for the changes\n");
	return -1;
}

/* Takes ownership of `request`. */
static int change_append(struct replay_changes *c, uint64_t at, const char *file, char *request) {
	struct replay_change *list = realloc(c->list, (c->count + 1) * sizeof(*list));

	if (list == NULL) {
		secret_free(request);
		return no_memory();
	}
	c->list = list;
	list[c->count] = (struct replay_change){at, c->count, file, request};
	c->count++;
	return 0;
}

int replay_changes_add_reload(struct replay_changes *c, const char *text) {
	size_t length = strcspn(text, "=");
	char time[TIME_TEXT];
	uint64_t at;

	if (length < sizeof(time) && text[length] == '=' && text[length + 1] != '\0') {
		memcpy(time, text, length);
		time[length] = '\0';
		if (units_parse_duration(time, &at))
			return change_append(c, at, text + length + 1, NULL);
	}
	fprintf(stderr,
		"--then: found \"%s\", allowed: a time and a file, such as 12.5ms=sg.yaml\n", text);
	return -1;
}

static bool has_method(const struct rpc *rpc, const char *name) {
	for (size_t m = 0; m < rpc->method_count; m++) {
		if (strcmp(rpc->methods[m].name, name) == 0)
			return true;
	}
	return false;
}

/* The fault of an item; NULL: none, and `*at` is its time. */
static const char *item_fault(const json_t *item, uint64_t *at) {
	const struct rpc rpc = methods_rpc(NULL);
	const json_t *params = json_object_get(item, "params");
	const char *time = json_string_value(json_object_get(item, "at"));
	const char *method = json_string_value(json_object_get(item, "method"));
	size_t known = 2 + (params != NULL);

	if (time == NULL || !units_parse_duration(time, at))
		return "at: needed: a time such as \"12.5ms\"";
	if (method == NULL || !has_method(&rpc, method))
		return "method: no such method; `vcmts control` lists them";
	if (params != NULL && !json_is_object(params))
		return "params: not an object";
	return json_object_size(item) == known ? NULL
					       : "unknown key; allowed: at, method and params";
}

static int item_parse(struct replay_changes *c, const char *path, size_t index, json_t *item) {
	uint64_t at;
	const char *fault = item_fault(item, &at);
	char *text;
	json_t *request;

	if (fault != NULL) {
		fprintf(stderr, "%s: [%zu]: %s\n", path, index, fault);
		return -1;
	}
	request = json_pack("{s:s, s:I, s:O, s:O*}", "jsonrpc", "2.0", "id", (json_int_t)index,
			    "method", json_object_get(item, "method"), "params",
			    json_object_get(item, "params"));
	text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	return text != NULL ? change_append(c, at, NULL, text) : no_memory();
}

int replay_changes_read(struct replay_changes *c, const char *path) {
	char fault[JSON_FAULT_LINE];
	json_error_t error;
	json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	int ret = 0;

	if (all == NULL) {
		fprintf(stderr, "%s:%d: invalid JSON: %s\n", path, error.line > 0 ? error.line : 1,
			json_fault(&error, fault));
		return -1;
	}
	if (!json_is_array(all)) {
		fprintf(stderr, "%s: not a list such as [{\"at\", \"method\", \"params\"}]\n",
			path);
		ret = -1;
	}
	for (size_t i = 0; ret == 0 && i < json_array_size(all); i++)
		ret = item_parse(c, path, i, json_array_get(all, i));
	json_decref(all);
	return ret;
}

static int by_time(const void *a, const void *b) {
	const struct replay_change *one = a, *other = b;

	if (one->at != other->at)
		return one->at < other->at ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

int replay_changes_open(struct replay_changes *c, struct server *s, const char *config,
			const struct server_devices *devices) {
	c->server = s;
	c->config = config;
	c->answers = json_array();
	if (c->answers == NULL)
		return no_memory();
	reload_open(&c->reload, s, config, devices);
	c->metrics = (struct metrics_source){.server = s, .version = VCMTS_VERSION};
	c->methods = (struct methods){.server = s, .reload = &c->reload, .metrics = &c->metrics};
	c->rpc = methods_rpc(&c->methods);
	if (c->count > 0)
		qsort(c->list, c->count, sizeof(*c->list), by_time);
	return 0;
}

uint64_t replay_changes_next_time(const struct replay_changes *c) {
	return c->next < c->count ? c->list[c->next].at : REPLAY_NO_CHANGE;
}

/* Takes ownership of `answer`, which has a result or an error. */
static void note_answer(struct replay_changes *c, json_t *answer, uint64_t begun) {
	json_object_set_new(answer, "begun_ns", json_integer((json_int_t)begun));
	json_object_set_new(answer, "done_ns", json_integer((json_int_t)server_now(c->server)));
	json_array_append_new(c->answers, answer);
}

static void reload_file(struct replay_changes *c, const char *file, uint64_t begun) {
	bool good;

	c->reload.path = file;
	good = reload_run(&c->reload, true); /* logs the result in one line */
	c->refused += !good;
	note_answer(c,
		    json_pack("{s:s, s:o}", "file", file, good ? "result" : "error",
			      rpc_text(c->reload.line)),
		    begun);
}

static json_t *answer_to(struct replay_changes *c, const char *request) {
	struct rpc_work *w = rpc_begin(&c->rpc, request, strlen(request));
	unsigned us = 0;
	struct answer_text text = {0};
	json_t *answer;

	if (w == NULL)
		return NULL;
	while (!rpc_continue(w)) {
		if (rpc_waits(w))
			server_wait(c->server, &us);
	}
	rpc_end(w, &text);
	answer = answer_text_parse(&text);
	secret_stack_wipe();
	return answer;
}

static void print_refused(const struct replay_change *change, const char *method,
			  const char *message) {
	char at[UNITS_TEXT_SIZE];

	units_format_duration(change->at, at);
	fprintf(stderr, "replay: %s: %s: refused: %s\n", at, method, message);
}

static void call(struct replay_changes *c, const struct replay_change *change, uint64_t begun) {
	json_t *request, *answer, *error;
	const char *method;

	c->reload.path = c->config;
	answer = answer_to(c, change->request);
	request = json_loads(change->request, 0, NULL);
	error = json_object_get(answer, "error");
	method = json_string_value(json_object_get(request, "method"));
	if (answer == NULL || error != NULL) {
		const char *message = json_string_value(json_object_get(error, "message"));

		c->refused++;
		print_refused(change, method, message != NULL ? message : "no memory left");
	}
	note_answer(c,
		    json_pack("{s:O*, s:O*, s:O*}", "method", json_object_get(request, "method"),
			      "result", json_object_get(answer, "result"), "error", error),
		    begun);
	json_decref(request);
	json_decref(answer);
}

void replay_changes_apply_next(struct replay_changes *c) {
	const struct replay_change *change = &c->list[c->next++];
	uint64_t begun = server_now(c->server);

	if (change->file != NULL)
		reload_file(c, change->file, begun);
	else
		call(c, change, begun);
}

void replay_changes_free(struct replay_changes *c) {
	for (size_t i = 0; i < c->count; i++)
		secret_free(c->list[i].request);
	free(c->list);
	if (c->answers != NULL) {
		reload_free(&c->reload);
		json_decref(c->answers);
	}
	*c = (struct replay_changes){0};
}
