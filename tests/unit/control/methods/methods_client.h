/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls control methods in the same thread, with parameters as in short_json.h, and compares responses. */
#pragma once

#include "test.h"

#include "control/methods/methods.h"

#include "rpc_answer.h"
#include "short_json.h"

static struct methods methods;
static struct rpc rpc;

static json_t *answers; /* of the present test */

/* Keeps a JSON value until free_answers(). */
static inline json_t *keep(json_t *json) {
	if (answers == NULL)
		answers = json_array();
	assert_int_equal(json_array_append_new(answers, json), 0);
	return json;
}

static inline void free_answers(void) {
	json_decref(answers);
	answers = NULL;
}

/* Begins a request; end_call() runs it. */
static inline struct rpc_work *begin_call(const char *method, const char *params) {
	json_t *request = json_pack("{s:s, s:s, s:o, s:i}", "jsonrpc", "2.0", "method", method,
				    "params", json_of(params), "id", 1);
	char *text = json_dumps(request, 0);
	struct rpc_work *w = rpc_begin(&rpc, text, strlen(text));

	free(text);
	json_decref(request);
	return w;
}

/* Runs a request that does not have to wait. Returns the response, which is valid until free_answers(). */
static inline json_t *end_call(struct rpc_work *w) {
	json_t *json;
	char *answer;

	while (!rpc_continue(w))
		assert_false(rpc_waits(w));
	answer = rpc_answer(w);
	json = keep(json_loads(answer, 0, NULL));
	free(answer);
	return json;
}

static inline json_t *call_method(const char *method, const char *params) {
	return end_call(begin_call(method, params));
}

/* Asserts that the call succeeds; returns its result. */
static inline json_t *call_ok(const char *method, const char *params) {
	json_t *result = json_object_get(call_method(method, params), "result");

	assert_non_null(result);
	return result;
}

/* Asserts that the call fails with this code. Returns the message, which is valid until the next call. */
static inline const char *call_error(const char *method, const char *params, int code) {
	static char message[512];
	const json_t *error = json_object_get(call_method(method, params), "error");

	snprintf(message, sizeof(message), "%s",
		 json_string_value(json_object_get(error, "message")));
	assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
	return message;
}

static inline void expect_error(const char *method, const char *params, int code, const char *why) {
	assert_string_equal(call_error(method, params, code), why);
}

/* The member at a path of names, or indices of lists, joined by dots; NULL if it does not exist. */
static inline const json_t *get(const json_t *json, const char *path) {
	char names[128], *rest = names;

	snprintf(names, sizeof(names), "%s", path);
	for (const char *name; (name = strsep(&rest, ".")) != NULL;)
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(name))
					   : json_object_get(json, name);
	return json;
}

static inline int64_t get_int(const json_t *json, const char *path) {
	assert_true(json_is_integer(get(json, path)));
	return json_integer_value(get(json, path));
}

static inline const char *get_str(const json_t *json, const char *path) {
	return json_string_value(get(json, path));
}

/* Writes a value as text: lists and objects as [SIZE], spaces as underscores, a missing member as "none". */
static inline void format_member(const json_t *json, char *text, size_t size) {
	if (json == NULL)
		snprintf(text, size, "none");
	else if (json_is_string(json))
		snprintf(text, size, "%s", json_string_value(json));
	else if (json_is_array(json) || json_is_object(json))
		snprintf(text, size, "[%zu]", json_array_size(json) + json_object_size(json));
	else if (json_is_integer(json))
		snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
	else
		snprintf(text, size, "%s", json_is_true(json) ? "true" : "false");
	for (char *c = text; *c != '\0'; c++)
		*c = *c == ' ' ? '_' : *c;
}

/* Asserts members, given as PATH=VALUE separated by spaces, with values as format_member() writes them. */
static inline void expect_members(const json_t *json, const char *expected) {
	char all[1024], actual[256], *rest = all, *path;

	snprintf(all, sizeof(all), "%s", expected);
	while ((path = strsep(&rest, " ")) != NULL) {
		char *value = strchr(path, '=');

		*value++ = '\0';
		format_member(get(json, path), actual, sizeof(actual));
		if (strcmp(actual, value) != 0)
			fail_msg("%s is %s, expected %s", path, actual, value);
	}
}

static inline void expect_result(const char *method, const char *params, const char *expected) {
	expect_members(call_ok(method, params), expected);
}
