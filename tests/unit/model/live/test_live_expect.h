/* SPDX-License-Identifier: BSD-3-Clause */
/* What a difference is expected to be. */
#pragma once

#include "test_live.h"

#define NEW_MODEM(n)                              \
	"  - mac: \"02:01:00:00:01:0" n "\"\n"    \
	"    addresses: [10.1.0." n "]\n"         \
	"    bonding_group: 2\n"                  \
	"    security: {said: 3, cipher: none}\n" \
	"    service_flows: [{id: 10" n "}]\n"

/* Makes `l` what `text` says, and expects these changes. */
static inline void expect_changes(struct live_group *l, const char *text, const char *expected) {
	struct service_group next = sg_of(text);
	struct live_changes changes;
	char why[LIVE_LINE] = "", told[512];

	assert_true(live_difference(l, &next, &changes, why));
	live_changes_text(l, &changes, told, sizeof(told));
	assert_string_equal(told, expected);
	live_changes_take(l, &changes);
	live_changes_text(l, &changes, told, sizeof(told));
	assert_string_equal(told, expected);
	live_changes_free(&changes);
	expect_same_as(l, &next);
	expect_sound(l);
	service_group_free(&next);
}

static inline void expect_refusal(struct live_group *l, const char *text, const char *line) {
	struct service_group next = sg_of(text);
	struct live_changes changes;
	char why[LIVE_LINE] = "", *before = live_text(l), *after;

	assert_false(live_difference(l, &next, &changes, why));
	assert_string_equal(why, line);
	assert_null(changes.list);
	after = live_text(l);
	assert_string_equal(before, after);
	free(before);
	free(after);
	service_group_free(&next);
}

/* The configuration with one text instead of another. */
static inline char *replaced(const char *from, const char *to) {
	const char *text = LIVE_SMALL, *place = strstr(text, from);
	char *made = malloc(strlen(text) + strlen(to) + 1);

	assert_non_null(place);
	assert_non_null(made);
	sprintf(made, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
	return made;
}
