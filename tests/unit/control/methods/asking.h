/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of two groups, and a client of it in the same thread. */
#pragma once

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "control/methods/methods.h"
#include "server/changes.h"

#include "groups_bench.h"
#include "rpc_answer.h"
#include "short_json.h"

#define GROUPS 2

static const struct groups_threads threads[GROUPS] = {{1, 1, 1}, {1, 2, 3}};
static struct groups_bench storage, *const bench = &storage;
static struct reload reload;
static struct metrics_source metrics;
static struct methods methods;
static struct rpc rpc;

static inline struct rpc_work *begun(const char *method, const char *params) {
	json_t *request = json_pack("{s:s, s:s, s:o, s:i}", "jsonrpc", "2.0", "method", method,
				    "params", json_of(params), "id", 1);
	char *text = json_dumps(request, 0);
	struct rpc_work *w = rpc_begin(&rpc, text, strlen(text));

	free(text);
	json_decref(request);
	return w;
}

/* The whole answer to what was begun, which waits for nothing now. */
static inline json_t *ended(struct rpc_work *w) {
	json_t *json;
	char *answer;

	while (!rpc_go_on(w))
		assert_false(rpc_waits(w));
	answer = rpc_answer(w);
	json = json_loads(answer, 0, NULL);
	free(answer);
	return json;
}

static inline json_t *asked(const char *method, const char *params) {
	return ended(begun(method, params));
}

static inline json_t *told(const char *method, const char *params) {
	json_t *answer = asked(method, params);
	json_t *result = json_incref(json_object_get(answer, "result"));

	assert_non_null(result);
	json_decref(answer);
	return result;
}

/* The words of a refusal, until the next one. */
static inline const char *refusal(const char *method, const char *params) {
	static char message[512];
	json_t *answer = asked(method, params);

	snprintf(message, sizeof(message), "%s",
		 json_string_value(json_object_get(json_object_get(answer, "error"), "message")));
	json_decref(answer);
	return message;
}

static inline void refused(const char *method, const char *params, int code, const char *why) {
	json_t *answer = asked(method, params);
	const json_t *error = json_object_get(answer, "error");

	assert_string_equal(json_string_value(json_object_get(error, "message")), why);
	assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
	json_decref(answer);
}

/* A member of a member ..: names, or places in lists, with dots between them. */
static inline const json_t *at(const json_t *json, const char *path) {
	char names[128], *rest = names;

	snprintf(names, sizeof(names), "%s", path);
	for (const char *name; (name = strsep(&rest, ".")) != NULL;)
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(name))
					   : json_object_get(json, name);
	assert_non_null(json);
	return json;
}

static inline int64_t number(const json_t *json, const char *path) {
	return json_integer_value(at(json, path));
}

static inline const char *word(const json_t *json, const char *path) {
	return json_string_value(at(json, path));
}

static inline int begin(void **state) {
	groups_bench_config(bench, GROUPS, threads);
	groups_bench_open(bench);
	reload_open(&reload, &bench->server, "/no/such/file", &(struct server_devices){0});
	metrics = (struct metrics_source){.server = &bench->server, .version = "1"};
	metrics_source_start(&metrics);
	methods =
		(struct methods){.server = &bench->server, .reload = &reload, .metrics = &metrics};
	rpc = methods_rpc(&methods);
	return 0;
}

static inline int end(void **state) {
	server_changes_settle(&bench->server);
	reload_free(&reload);
	groups_bench_close(bench);
	return 0;
}
