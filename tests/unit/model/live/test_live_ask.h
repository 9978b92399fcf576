/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from short texts, and what is expected of them. */
#pragma once

#include "test_live.h"

#define MAC_1 "mac: '02:01:00:00:00:01'"
#define MAC_9 "{mac: '02:01:00:00:00:09', addresses: ['10.0.0.9'], bonding_group: 2, "
#define CLEAR_9 MAC_9 "security: {said: 9, cipher: none}, "
#define MODEM_9 CLEAR_9 "service_flows: [{id: 9}]}"

/* JSON without the many quotes: words are texts, 'a:b' is one word. */
static inline json_t *json_of(const char *text) {
	char made[2048];
	size_t used = 0;
	json_error_t error;
	json_t *value;

	while (*text != '\0' && used + 80 < sizeof(made)) {
		size_t length = *text == '\'' ? strcspn(text + 1, "'") : strcspn(text, " ,:{}[]\n");
		bool number = strspn(text, "-0123456789") == length ||
			      strncmp(text, "true", 4) == 0 || strncmp(text, "null", 4) == 0 ||
			      strncmp(text, "false", 5) == 0;

		if (*text == '\'') {
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
	value = json_loadb(made, used, 0, &error);
	if (value == NULL)
		print_error("%.*s: %s\n", (int)used, made, error.text);
	assert_non_null(value);
	return value;
}

static inline bool ask(const struct live_group *l, enum live_verb verb, enum live_object object,
		       const char *text, struct live_changes *changes, char why[LIVE_LINE]) {
	json_t *value = json_of(text);
	bool good;

	why[0] = '\0';
	good = live_request(l, verb, object, value, changes, why);
	json_decref(value);
	return good;
}

static inline void expect_done(struct live_group *l, enum live_verb verb, enum live_object object,
			       const char *text, const char *expected) {
	struct live_changes changes;
	char why[LIVE_LINE], told[256];

	if (!ask(l, verb, object, text, &changes, why))
		print_error("%s\n", why);
	assert_string_equal(why, "");
	live_changes_text(l, &changes, told, sizeof(told));
	assert_string_equal(told, expected);
	live_changes_take(l, &changes);
	live_changes_free(&changes);
	expect_sound(l);
}

static inline void expect_refused(const struct live_group *l, enum live_verb verb,
				  enum live_object object, const char *text, const char *line) {
	struct live_changes changes;
	char why[LIVE_LINE], *before = live_text(l), *after;

	assert_false(ask(l, verb, object, text, &changes, why));
	assert_string_equal(why, line);
	assert_null(changes.list);
	after = live_text(l);
	assert_string_equal(before, after);
	free(before);
	free(after);
}
