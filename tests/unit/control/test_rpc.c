/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and their answers, word by word. */
#include "test_main.h"

#include "rpc_service.h"

static uint32_t sum;

static void answers(const char *request, const char *expected) {
	const struct rpc rpc = rpc_service(&sum);
	char *answer = rpc_service_answer(&rpc, request, strlen(request));

	if (expected == NULL)
		assert_null(answer);
	else
		assert_string_equal(answer, expected);
	free(answer);
}

TEST(a_call_has_its_result) {
	sum = 0;
	answers("{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":5},\"id\":1}",
		"{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":5},\"id\":1}");
	answers("{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":\"5\",\"twice\":true},"
		"\"id\":\"x\"}",
		"{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":15},\"id\":\"x\"}");
	answers("{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":1},\"id\":null}",
		"{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":16},\"id\":null}");
}

TEST(who_gives_no_id_is_told_nothing) {
	sum = 0;
	answers("{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":5}}", NULL);
	assert_int_equal(sum, 5);
	answers("{\"jsonrpc\":\"2.0\",\"method\":\"nothing\"}", NULL);
	answers("[{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":5}}]", NULL);
	assert_int_equal(sum, 10);
}

#define ERROR(code, message, id)                                                    \
	"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":" #code ",\"message\":\"" message \
	"\"},\"id\":" id "}"
#define ADD(params) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"add\",\"params\":" params "}"

TEST(wrong_params_are_told) {
	sum = 0;
	answers(ADD("{\"by\":0}"),
		ERROR(-32602, "add: by: found \\\"0\\\", allowed: a number, 1 to 1000", "1"));
	answers(ADD("{}"),
		ERROR(-32602, "add: by: found nothing, allowed: a number, 1 to 1000", "1"));
	answers(ADD("{\"by\":null}"),
		ERROR(-32602, "add: by: found \\\"null\\\", allowed: a number, 1 to 1000", "1"));
	answers(ADD("{\"by\":[1]}"),
		ERROR(-32602, "add: by: found a list of 1, allowed: a number, 1 to 1000", "1"));
	answers(ADD("[5]"),
		ERROR(-32600, "params: found no object, allowed: parameters by name", "null"));
	assert_int_equal(sum, 0);
}

TEST(a_refusal_says_why) {
	sum = 0;
	answers(ADD("{\"by\":13}"), ERROR(-32000, "by: 13 brings bad luck", "1"));
	assert_int_equal(sum, 0);
}

TEST(what_is_no_request) {
	static const char *const requests[] = {
		"{}",
		"[1]",
		"[[]]",
		"{\"jsonrpc\":\"1.0\",\"method\":\"add\",\"id\":1}",
		"{\"jsonrpc\":2.0,\"method\":\"add\",\"id\":1}",
		"{\"jsonrpc\":\"2.0\",\"method\":7,\"id\":1}",
		"{\"jsonrpc\":\"2.0\",\"id\":1}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"id\":{}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":\"by\",\"id\":1}",
		"[]",
	};

	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		const struct rpc rpc = rpc_service(&sum);
		char *answer = rpc_service_answer(&rpc, requests[i], strlen(requests[i]));

		assert_non_null(answer);
		assert_non_null(strstr(answer, "\"code\":-32600"));
		assert_non_null(strstr(answer, "\"id\":null"));
		free(answer);
	}
}

TEST(what_is_no_json) {
	static const char *const requests[] = {"{", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}", "[1,]",
					       "{'a':1}"};

	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		const struct rpc rpc = rpc_service(&sum);
		char *answer = rpc_service_answer(&rpc, requests[i], strlen(requests[i]));

		assert_non_null(answer);
		assert_non_null(strstr(answer, "\"code\":-32700"));
		free(answer);
	}
}

TEST(an_unknown_method) {
	answers("{\"jsonrpc\":\"2.0\",\"method\":\"ad\",\"id\":1}",
		ERROR(-32601, "found method \\\"ad\\\", allowed: those that rpc.discover tells",
		      "1"));
}

TEST(a_batch_is_answered_in_order) {
	sum = 0;
	answers("[" ADD("{\"by\":1}") "," ADD("{\"by\":0}") "," ADD("{\"by\":2}") "]",
		"[{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":1},\"id\":1}," ERROR(
			-32602, "add: by: found \\\"0\\\", allowed: a number, 1 to 1000",
			"1") ",{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":3},\"id\":1}]");
}

TEST(a_batch_is_bounded) {
	const struct rpc rpc = rpc_service(&sum);
	char text[4096] = "[";
	char *answer;

	for (int i = 0; i < RPC_BATCH_MAX + 1; i++)
		strcat(text, i > 0 ? ",{}" : "{}");
	strcat(text, "]");
	answer = rpc_service_answer(&rpc, text, strlen(text));
	assert_int_equal(answer[0], '{');
	assert_non_null(strstr(answer, "allowed: 1 to 64"));
	free(answer);
}

#define FILL "{\"jsonrpc\":\"2.0\",\"method\":\"fill\",\"id\":1}"

/* Four answers of 4 MiB: what then wants one is not begun, and a notification is. */
TEST(the_answers_to_a_batch_are_bounded) {
	const struct rpc rpc = rpc_service(&sum);
	const char *text = "[" FILL "," FILL "," FILL "," ADD("{\"by\":1}") "," FILL "," ADD(
		"{\"by\":2}") ",{\"jsonrpc\":\"2.0\",\"method\":\"add\",\"params\":{\"by\":4}}"
			      "," FILL "]";
	char *answer;
	json_t *all;

	sum = 0;
	answer = rpc_service_answer(&rpc, text, strlen(text));
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

#define AWAIT(id) "{\"jsonrpc\":\"2.0\",\"method\":\"await\",\"id\":" #id "}"

static struct rpc_work *begun(const struct rpc *rpc, const char *text) {
	struct rpc_work *w = rpc_begin(rpc, text, strlen(text));

	assert_non_null(w);
	return w;
}

static void ended(struct rpc_work *w, const char *expected) {
	char *answer;

	while (!rpc_go_on(w))
		assert_false(rpc_waits(w));
	answer = rpc_answer(w);
	assert_string_equal(answer, expected);
	free(answer);
}

TEST(a_call_may_wait) {
	const struct rpc rpc = rpc_service(&sum);
	struct rpc_work *w = begun(&rpc, AWAIT(1)), *other = begun(&rpc, AWAIT(2));

	sum = 0;
	assert_false(rpc_go_on(w));
	answers(ADD("{\"by\":100}"), "{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":100},\"id\":1}");
	ended(w, "{\"jsonrpc\":\"2.0\",\"result\":{\"looks\":2},\"id\":1}");
	sum = 99;
	assert_false(rpc_go_on(other));
	sum = 101;
	ended(other, ERROR(-32000, "sum: it has passed 100", "2"));
}

TEST(what_comes_behind_a_call_that_waits) {
	const struct rpc rpc = rpc_service(&sum);
	struct rpc_work *w =
		begun(&rpc, "[" ADD("{\"by\":1}") "," AWAIT(2) "," ADD("{\"by\":2}") "]");

	sum = 0;
	assert_false(rpc_go_on(w)); /* a call at a time */
	assert_false(rpc_waits(w));
	assert_int_equal(sum, 1);
	assert_false(rpc_go_on(w));
	assert_true(rpc_waits(w));
	assert_false(rpc_go_on(w));
	sum = 100;
	ended(w, "[{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":1},\"id\":1},"
		 "{\"jsonrpc\":\"2.0\",\"result\":{\"looks\":3},\"id\":2},"
		 "{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":102},\"id\":1}]");
}

/* Also in the midst of an array. Memory that stays is seen by the sanitizers. */
TEST(a_call_that_waits_may_be_given_up) {
	const struct rpc rpc = rpc_service(&sum);
	struct rpc_work *w = begun(&rpc, "[" ADD("{\"by\":1}") "," AWAIT(2) "]");

	sum = 0;
	assert_false(rpc_go_on(w));
	assert_null(rpc_answer(w));
	assert_null(rpc_answer(begun(&rpc, AWAIT(1))));
	assert_int_equal(sum, 1);
}

TEST(methods_are_described) {
	const struct rpc rpc = rpc_service(&sum);
	json_t *all = rpc_describe(&rpc);
	const json_t *add = json_array_get(json_object_get(all, "methods"), 0);
	const json_t *by = json_array_get(json_object_get(add, "params"), 0);
	const json_t *await, *refused;

	assert_string_equal(json_string_value(json_object_get(add, "name")), "add");
	assert_string_equal(json_string_value(json_object_get(by, "name")), "by");
	assert_true(json_is_true(json_object_get(by, "required")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(by, "schema"), "maximum")),
		1000);
	assert_int_equal(json_array_size(json_object_get(add, "errors")), 0);
	await = json_array_get(json_object_get(all, "methods"), 1);
	refused = json_array_get(json_object_get(await, "errors"), 0);
	assert_int_equal(json_integer_value(json_object_get(refused, "code")), RPC_REFUSED);
	assert_string_equal(json_string_value(json_object_get(refused, "message")),
			    "the sum has passed 100");
	json_decref(all);
}
