/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rpc.c: requests and their exact responses, invalid requests, and limits of batches. */
#include "test_main.h"

#include "rpc_service.h"

static uint32_t sum;

#define CALL(method, params, id) \
	"{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":" params ",\"id\":" id "}"
#define ADD(params) CALL("add", params, "1")
#define NOTIFY(params) "{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":" params "}"
#define SUM(sum, id) "{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":" #sum "},\"id\":" id "}"
#define ERROR(code, message, id)                                                    \
	"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":" #code ",\"message\":\"" message \
	"\"},\"id\":" id "}"
#define WRONG_BY(value) ERROR(-32602, "add: by: found " value ", allowed: a number, 1 to 1000", "1")

/* Calls in order, from a sum of 0. NULL: a notification, which has no response. */
static const struct {
	const char *request, *answer;
} calls[] = {
	{ADD("{\"by\":5}"), SUM(5, "1")},
	{CALL("add", "{\"by\":\"5\",\"twice\":true}", "\"x\""), SUM(15, "\"x\"")},
	{CALL("add", "{\"by\":1}", "null"), SUM(16, "null")},
	{NOTIFY("{\"by\":5}"), NULL},
	{"{\"jsonrpc\":\"2.0\",\"method\":\"nothing\"}", NULL},
	{"[" NOTIFY("{\"by\":5}") "]", NULL},
	{ADD("{\"by\":1}"), SUM(27, "1")},
	{ADD("{\"by\":0}"), WRONG_BY("\\\"0\\\"")},
	{ADD("{}"), ERROR(-32602, "add: by: missing; needed: a number, 1 to 1000", "1")},
	{ADD("{\"by\":null}"), WRONG_BY("\\\"null\\\"")},
	{ADD("{\"by\":[1]}"), WRONG_BY("a list of 1")},
	{ADD("[5]"), ERROR(-32600, "params: found no object, allowed: parameters by name", "null")},
	{ADD("{\"by\":13}"), ERROR(-32000, "by: 13 is not possible", "1")},
	{CALL("ad", "{}", "1"),
	 ERROR(-32601, "no method \\\"ad\\\"; `./vcmts control` and rpc.discover list the methods",
	       "1")},
	{"[" ADD("{\"by\":1}") "," ADD("{\"by\":0}") "," ADD("{\"by\":2}") "]",
	 "[" SUM(28, "1") "," WRONG_BY("\\\"0\\\"") "," SUM(30, "1") "]"},
};

static char *call(const char *request) {
	const struct rpc rpc = rpc_service(&sum);

	return rpc_service_answer(&rpc, request, strlen(request));
}

TEST(calls_return_exact_responses) {
	sum = 0;
	for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
		char *answer = call(calls[i].request);

		assert_int_equal(answer == NULL, calls[i].answer == NULL);
		if (answer != NULL)
			assert_string_equal(answer, calls[i].answer);
		free(answer);
	}
}

#define NO_REQUEST "\"code\":-32600"
#define NO_JSON "\"code\":-32700"

TEST(invalid_requests_are_rejected) {
	static const char *const requests[][2] = {
		{"{}", NO_REQUEST},
		{"[1]", NO_REQUEST},
		{"[[]]", NO_REQUEST},
		{"{\"jsonrpc\":\"1.0\",\"method\":\"add\",\"id\":1}", NO_REQUEST},
		{"{\"jsonrpc\":2.0,\"method\":\"add\",\"id\":1}", NO_REQUEST},
		{"{\"jsonrpc\":\"2.0\",\"method\":7,\"id\":1}", NO_REQUEST},
		{"{\"jsonrpc\":\"2.0\",\"id\":1}", NO_REQUEST},
		{CALL("add", "{}", "{}"), NO_REQUEST},
		{CALL("add", "\"by\"", "1"), NO_REQUEST},
		{"[]", NO_REQUEST},
		{"{", NO_JSON},
		{"{\"a\":1,\"a\":2}", NO_JSON},
		{"{\"a\":\"\xff\"}", NO_JSON},
		{"[1,]", NO_JSON},
		{"{'a':1}", NO_JSON},
	};

	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		char *answer = call(requests[i][0]);

		assert_non_null(answer);
		assert_non_null(strstr(answer, requests[i][1]));
		assert_non_null(strstr(answer, "\"id\":null"));
		free(answer);
	}
}

TEST(batch_over_the_limit_is_rejected) {
	char text[4096] = "[";
	char *answer;

	for (int i = 0; i < RPC_BATCH_MAX + 1; i++)
		strcat(text, i > 0 ? ",{}" : "{}");
	strcat(text, "]");
	answer = call(text);
	assert_int_equal(answer[0], '{');
	assert_non_null(strstr(answer, "allowed: 1 to 64"));
	free(answer);
}

#define FILL CALL("fill", "{}", "1")

/* After 16 MiB of responses, further requests with an ID are refused; notifications still run. */
TEST(responses_of_batch_are_limited) {
	const char *text = "[" FILL "," FILL "," FILL "," ADD("{\"by\":1}") "," FILL "," ADD(
		"{\"by\":2}") "," NOTIFY("{\"by\":4}") "," FILL "]";
	char *answer;
	json_t *all;

	sum = 0;
	answer = call(text);
	assert_in_range(strlen(answer), RPC_ANSWERS_MAX, RPC_ANSWERS_MAX + 1024);
	all = json_loads(answer, 0, NULL);
	assert_int_equal(json_array_size(all), 7);
	for (size_t i = 0; i < 7; i++) {
		const json_t *error = json_object_get(json_array_get(all, i), "error");

		assert_int_equal(json_integer_value(json_object_get(error, "code")),
				 i < 5 ? RPC_OK : RPC_REFUSED);
		assert_true(i < 5 || strstr(json_string_value(json_object_get(error, "message")),
					    "allowed: less than 16777216") != NULL);
	}
	assert_int_equal(sum, 5);
	json_decref(all);
	free(answer);
}
