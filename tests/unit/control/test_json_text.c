/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a request ends, however its bytes come. */
#include "test.h"

#include <string.h>

#include "control/json_text.h"

/* The whole of it in one piece, and a byte at a time. */
static void ends_at(const char *bytes, size_t end, enum json_text_state state) {
	struct json_text whole = {0}, slow = {0};
	size_t size = strlen(bytes), used = 0;

	assert_int_equal(json_text_feed(&whole, bytes, size), end);
	assert_int_equal(whole.state, state);
	while (used < size && json_text_feed(&slow, bytes + used, 1) == 1)
		used++;
	assert_int_equal(used, end);
	assert_int_equal(slow.state, state);
}

static void values_end(void **state) {
	(void)state;
	ends_at("{}", 2, JSON_TEXT_WHOLE);
	ends_at(" \t\r\n{} {", 6, JSON_TEXT_WHOLE);
	ends_at("[{\"a\":[1,2]}]{", 13, JSON_TEXT_WHOLE);
	ends_at("{\"}\": 1}", 8, JSON_TEXT_WHOLE);
	ends_at("{\"\\\"}\": 1}", 10, JSON_TEXT_WHOLE);
	ends_at("{\"\\\\\": {}}}", 10, JSON_TEXT_WHOLE);
}

static void more_is_to_come(void **state) {
	(void)state;
	ends_at("", 0, JSON_TEXT_BETWEEN);
	ends_at("  \n", 3, JSON_TEXT_BETWEEN);
	ends_at("{\"a\": \"}", 8, JSON_TEXT_INSIDE);
	ends_at("{\"a\": \"\\", 8, JSON_TEXT_INSIDE);
	ends_at("[[]", 3, JSON_TEXT_INSIDE);
}

static void no_value(void **state) {
	(void)state;
	ends_at("1", 1, JSON_TEXT_NONE);
	ends_at("  \"{\"", 3, JSON_TEXT_NONE);
	ends_at("}", 1, JSON_TEXT_NONE);
	ends_at("GET / HTTP/1.1", 1, JSON_TEXT_NONE);
}

static void depth_is_bounded(void **state) {
	char text[JSON_TEXT_DEEPEST + 2];
	struct json_text t = {0};

	(void)state;
	memset(text, '[', sizeof(text));
	assert_int_equal(json_text_feed(&t, text, JSON_TEXT_DEEPEST), JSON_TEXT_DEEPEST);
	assert_int_equal(t.state, JSON_TEXT_INSIDE);
	assert_int_equal(json_text_feed(&t, text, 2), 1);
	assert_int_equal(t.state, JSON_TEXT_NONE);
}

static void a_nul_is_no_white_space(void **state) {
	struct json_text t = {0};

	(void)state;
	assert_int_equal(json_text_feed(&t, "\0{}", 3), 1);
	assert_int_equal(t.state, JSON_TEXT_NONE);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_end),
		cmocka_unit_test(more_is_to_come),
		cmocka_unit_test(no_value),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(a_nul_is_no_white_space),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
