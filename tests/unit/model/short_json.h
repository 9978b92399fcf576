/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON as tests write it. */
#pragma once

#include "test.h"

#include <jansson.h>

/* JSON without the many quotes: words are texts, 'a:b' is one word. JSON itself stays. Returns its size; it needs no memory. */
static inline size_t json_expand(const char *text, char *made, size_t capacity) {
	size_t used = 0;

	while (*text != '\0' && used + 80 < capacity) {
		bool quoted = *text == '\'' || *text == '"';
		size_t length = quoted ? strcspn(text + 1, "'\"") : strcspn(text, " ,:{}[]\n");
		bool number = strspn(text, "-0123456789") == length ||
			      strncmp(text, "true", 4) == 0 || strncmp(text, "null", 4) == 0 ||
			      strncmp(text, "false", 5) == 0;

		if (quoted) {
			used += (size_t)sprintf(made + used, "\"%.*s\"", (int)length, text + 1);
			text += length + 2;
		} else if (length > 0) {
			const char *quote = number && text[length] != ':' ? "" : "\"";

			used += (size_t)sprintf(made + used, "%s%.*s%s", quote, (int)length, text,
						quote);
			text += length;
		} else {
			made[used++] = *text++;
		}
	}
	made[used] = '\0';
	return used;
}

static inline json_t *json_of(const char *text) {
	char made[2048];
	json_error_t error;
	json_t *value = json_loadb(made, json_expand(text, made, sizeof(made)), 0, &error);

	if (value == NULL)
		print_error("%s: %s\n", made, error.text);
	assert_non_null(value);
	return value;
}
