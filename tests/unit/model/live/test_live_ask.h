/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from short texts, and what is expected of them. */
#pragma once

#include "short_json.h"
#include "test_live.h"

#define MAC_1 "mac: '02:01:00:00:00:01'"
#define MAC_9 "{mac: '02:01:00:00:00:09', addresses: ['10.0.0.9'], bonding_group: 2, "
#define CLEAR_9 MAC_9 "security: {said: 9, cipher: none}, "
#define MODEM_9 CLEAR_9 "service_flows: [{id: 9}]}"

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
