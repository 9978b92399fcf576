/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a request ends, however its bytes come. */
#include "test_main.h"

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

TEST(values_end) {
	ends_at("{}", 2, JSON_TEXT_WHOLE);
	ends_at(" \t\r\n{} {", 6, JSON_TEXT_WHOLE);
	ends_at("[{\"a\":[1,2]}]{", 13, JSON_TEXT_WHOLE);
	ends_at("{\"}\": 1}", 8, JSON_TEXT_WHOLE);
	ends_at("{\"\\\"}\": 1}", 10, JSON_TEXT_WHOLE);
	ends_at("{\"\\\\\": {}}}", 10, JSON_TEXT_WHOLE);
}

TEST(more_is_to_come) {
	ends_at("", 0, JSON_TEXT_BETWEEN);
	ends_at("  \n", 3, JSON_TEXT_BETWEEN);
	ends_at("{\"a\": \"}", 8, JSON_TEXT_INSIDE);
	ends_at("{\"a\": \"\\", 8, JSON_TEXT_INSIDE);
	ends_at("[[]", 3, JSON_TEXT_INSIDE);
}

TEST(no_value) {
	ends_at("1", 1, JSON_TEXT_NONE);
	ends_at("  \"{\"", 3, JSON_TEXT_NONE);
	ends_at("}", 1, JSON_TEXT_NONE);
	ends_at("GET / HTTP/1.1", 1, JSON_TEXT_NONE);
}

TEST(depth_is_bounded) {
	char text[JSON_TEXT_DEEPEST + 2];
	struct json_text t = {0};

	memset(text, '[', sizeof(text));
	assert_int_equal(json_text_feed(&t, text, JSON_TEXT_DEEPEST), JSON_TEXT_DEEPEST);
	assert_int_equal(t.state, JSON_TEXT_INSIDE);
	assert_int_equal(json_text_feed(&t, text, 2), 1);
	assert_int_equal(t.state, JSON_TEXT_NONE);
}

TEST(a_nul_is_no_white_space) {
	struct json_text t = {0};

	assert_int_equal(json_text_feed(&t, "\0{}", 3), 1);
	assert_int_equal(t.state, JSON_TEXT_NONE);
}
