/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the methods in the same thread: short requests, and what is expected of the answers. */
#pragma once

#include "test.h"

#include "control/methods/methods.h"

#include "rpc_answer.h"
#include "short_json.h"

static struct methods methods;
static struct rpc rpc;

static json_t *answers; /* of a test */

/* Until the end of the test. */
static inline json_t *kept(json_t *json) {
	if (answers == NULL)
		answers = json_array();
	assert_int_equal(json_array_append_new(answers, json), 0);
	return json;
}

static inline void answers_free(void) {
	json_decref(answers);
	answers = NULL;
}

static inline struct rpc_work *begun(const char *method, const char *params) {
	json_t *request = json_pack("{s:s, s:s, s:o, s:i}", "jsonrpc", "2.0", "method", method,
				    "params", json_of(params), "id", 1);
	char *text = json_dumps(request, 0);
	struct rpc_work *w = rpc_begin(&rpc, text, strlen(text));

	free(text);
	json_decref(request);
	return w;
}

/* The whole answer to what was begun, which waits for nothing now. Answers are there until the end of the test. */
static inline json_t *ended(struct rpc_work *w) {
	json_t *json;
	char *answer;

	while (!rpc_continue(w))
		assert_false(rpc_waits(w));
	answer = rpc_answer(w);
	json = kept(json_loads(answer, 0, NULL));
	free(answer);
	return json;
}

static inline json_t *asked(const char *method, const char *params) {
	return ended(begun(method, params));
}

static inline json_t *told(const char *method, const char *params) {
	json_t *result = json_object_get(asked(method, params), "result");

	assert_non_null(result);
	return result;
}

/* The error of an answer that is a refusal, until the next one. */
static inline const char *refusal(const char *method, const char *params, int code) {
	static char message[512];
	const json_t *error = json_object_get(asked(method, params), "error");

	snprintf(message, sizeof(message), "%s",
		 json_string_value(json_object_get(error, "message")));
	assert_int_equal(json_integer_value(json_object_get(error, "code")), code);
	return message;
}

static inline void refused(const char *method, const char *params, int code, const char *why) {
	assert_string_equal(refusal(method, params, code), why);
}

/* A member of a member ..: names, or indices of lists, with dots between them. NULL: it is not there. */
static inline const json_t *at(const json_t *json, const char *path) {
	char names[128], *rest = names;

	snprintf(names, sizeof(names), "%s", path);
	for (const char *name; (name = strsep(&rest, ".")) != NULL;)
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(name))
					   : json_object_get(json, name);
	return json;
}

static inline int64_t number(const json_t *json, const char *path) {
	assert_true(json_is_integer(at(json, path)));
	return json_integer_value(at(json, path));
}

static inline const char *word(const json_t *json, const char *path) {
	return json_string_value(at(json, path));
}

/* Lists and maps are their size in brackets, and blanks in words are underscores. */
static inline void member_text(const json_t *json, char *text, size_t size) {
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

/* Members as PATH=VALUE with blanks between them; those that are not there are none. */
static inline void expect_members(const json_t *json, const char *expected) {
	char all[1024], is[256], *rest = all, *path;

	snprintf(all, sizeof(all), "%s", expected);
	while ((path = strsep(&rest, " ")) != NULL) {
		char *value = strchr(path, '=');

		*value++ = '\0';
		member_text(at(json, path), is, sizeof(is));
		if (strcmp(is, value) != 0)
			fail_msg("%s is %s instead of %s", path, is, value);
	}
}

static inline void expect_told(const char *method, const char *params, const char *expected) {
	expect_members(told(method, params), expected);
}
