/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a group in service, by another text of it and by short requests, and what is expected of them. */
#pragma once

#include "short_json.h"
#include "test_live.h"

/* The configuration with one text instead of another; to be freed. */
static inline char *replaced(const char *from, const char *to) {
	const char *text = LIVE_SMALL, *place = strstr(text, from);
	char *made = malloc(strlen(text) + strlen(to) + 1);

	assert_non_null(place);
	assert_non_null(made);
	sprintf(made, "%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
	return made;
}

/* Of so many modems the first half has `first` addresses each, the other half `second`; to be freed. */
static inline char *crowd_text(unsigned modems, unsigned first, unsigned second) {
	unsigned address = 0;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "max_modems: %u\n" LIVE_TOP "modems:\n", modems);
	for (unsigned m = 0; m < modems; m++) {
		fprintf(out,
			"  - mac: '02:01:00:00:%02x:%02x'\n"
			"    bonding_group: 2\n"
			"    security: {said: 3, cipher: none}\n"
			"    service_flows: [{id: %u}]\n"
			"    addresses: [",
			2 + m / 256, m % 256, 1000 + m);
		for (unsigned a = m < modems / 2 ? first : second; a > 0; a--, address++)
			fprintf(out, "10.9.%u.%u%s", address / 256, address % 256,
				a > 1 ? ", " : "]\n");
	}
	fclose(out);
	return text;
}

/* Makes these changes, which are told alike before and behind it. */
static inline void expect_taken(struct live_group *l, struct live_changes *changes,
				const char *expected) {
	char told[512];

	live_changes_text(l, changes, told, sizeof(told));
	assert_string_equal(told, expected);
	live_changes_take(l, changes);
	live_changes_text(l, changes, told, sizeof(told));
	assert_string_equal(told, expected);
	live_changes_free(changes);
	expect_sound(l);
}

/* Makes `l` what `text` says. */
static inline void expect_changes(struct live_group *l, const char *text, const char *expected) {
	struct service_group next = sg_of(text);
	struct live_changes changes;
	char why[LIVE_LINE] = "";

	assert_true(live_difference(l, &next, &changes, why));
	expect_taken(l, &changes, expected);
	expect_same_as(l, &next);
	service_group_free(&next);
}

static inline void expect_refusal(const struct live_group *l, const char *text, const char *line) {
	struct service_group next = sg_of(text);
	struct live_changes changes;
	char why[LIVE_LINE] = "", *before = live_text(l);

	assert_false(live_difference(l, &next, &changes, why));
	assert_string_equal(why, line);
	assert_null(changes.list);
	expect_text(l, before);
	service_group_free(&next);
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
