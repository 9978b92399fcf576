/* SPDX-License-Identifier: BSD-3-Clause */
/* A short form of JSON for tests. */
#pragma once

#include "test.h"

#include <jansson.h>

/* Expands the short form: words need no quotes, 'a:b' is one word. A word has at most 70 bytes. Returns the size of the
 * JSON, which ends early if `capacity` is too small. Does not allocate. */
static inline size_t json_expand(const char *text, char *out, size_t capacity) {
	size_t used = 0;

	while (*text != '\0' && used + 80 < capacity) {
		bool quoted = *text == '\'' || *text == '"';
		size_t length = quoted ? strcspn(text + 1, "'\"") : strcspn(text, " ,:{}[]\n");
		bool number = strspn(text, "-0123456789") == length ||
			      strncmp(text, "true", 4) == 0 || strncmp(text, "null", 4) == 0 ||
			      strncmp(text, "false", 5) == 0;

		if (quoted) {
			used += (size_t)sprintf(out + used, "\"%.*s\"", (int)length, text + 1);
			text += length + 2;
		} else if (length > 0) {
			const char *quote = number && text[length] != ':' ? "" : "\"";

			used += (size_t)sprintf(out + used, "%s%.*s%s", quote, (int)length, text,
						quote);
			text += length;
		} else {
			out[used++] = *text++;
		}
	}
	out[used] = '\0';
	return used;
}

/* Parses the short form. The caller owns the value. */
static inline json_t *json_of(const char *text) {
	char json[2048];
	json_error_t error;
	json_t *value = json_loadb(json, json_expand(text, json, sizeof(json)), 0, &error);

	if (value == NULL)
		print_error("%s: %s\n", json, error.text);
	assert_non_null(value);
	return value;
}
