/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the end of a JSON object or array in a byte stream, without parsing it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JSON_TEXT_MAX_DEPTH 32

enum json_text_state {
	JSON_TEXT_BETWEEN, /* only white space so far */
	JSON_TEXT_INSIDE, /* inside a value */
	JSON_TEXT_WHOLE, /* the value is complete */
	JSON_TEXT_NONE, /* the text is no object or array, or is nested too deep */
};

/* Zero it before each value. */
struct json_text {
	enum json_text_state state;
	unsigned depth;
	bool quoted, escaped;
};

/* Scans up to the end of a value. Returns the number of scanned bytes: all of them, unless the state becomes
 * JSON_TEXT_WHOLE or JSON_TEXT_NONE. */
size_t json_text_feed(struct json_text *t, const char *bytes, size_t size);
