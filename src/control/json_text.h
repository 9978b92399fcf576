/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a JSON object or array ends in a stream of bytes, without understanding it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JSON_TEXT_DEEPEST 32

enum json_text_state {
	JSON_TEXT_BETWEEN, /* nothing but white space so far */
	JSON_TEXT_INSIDE, /* more is to come */
	JSON_TEXT_WHOLE, /* what was looked at ends with the value */
	JSON_TEXT_NONE, /* this is no object or array, or it is too deep */
};

/* Zeroed at the beginning, and again behind a value. */
struct json_text {
	enum json_text_state state;
	unsigned depth;
	bool quoted, escaped;
};

/* Looks at further bytes, up to the end of a value. Returns how many it has looked at: all of them but
 * where the state becomes JSON_TEXT_WHOLE or JSON_TEXT_NONE. */
size_t json_text_feed(struct json_text *t, const char *bytes, size_t size);
