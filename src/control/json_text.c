/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/json_text.h"

#include <string.h>

static void feed_quoted(struct json_text *t, char c) {
	if (t->escaped)
		t->escaped = false;
	else if (c == '\\')
		t->escaped = true;
	else if (c == '"')
		t->quoted = false;
}

static void feed_plain(struct json_text *t, char c) {
	switch (c) {
	case '"': t->quoted = true; break;
	case '{':
	case '[':
		if (++t->depth > JSON_TEXT_MAX_DEPTH)
			t->state = JSON_TEXT_NONE;
		break;
	case '}':
	case ']':
		if (--t->depth == 0)
			t->state = JSON_TEXT_WHOLE;
		break;
	default: break;
	}
}

static void feed_first(struct json_text *t, char c) {
	if (c == '{' || c == '[') {
		t->state = JSON_TEXT_INSIDE;
		t->depth = 1;
	} else if (c == '\0' || strchr(" \t\r\n", c) == NULL) {
		t->state = JSON_TEXT_NONE;
	}
}

size_t json_text_feed(struct json_text *t, const char *bytes, size_t size) {
	size_t i = 0;

	while (i < size && (t->state == JSON_TEXT_BETWEEN || t->state == JSON_TEXT_INSIDE)) {
		if (t->state == JSON_TEXT_BETWEEN)
			feed_first(t, bytes[i++]);
		else if (t->quoted)
			feed_quoted(t, bytes[i++]);
		else
			feed_plain(t, bytes[i++]);
	}
	return i;
}
