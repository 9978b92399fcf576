/* SPDX-License-Identifier: BSD-3-Clause */
/* One object of a request: read, checked, held against all others, and written back. */
#include <stdio.h>
#include <string.h>

#include "model_values.h"
#include "test_live_ask.h"
#include "text_cases.h"

/* Every object that is written is read again as it was, with its references. */
static void there_and_back(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	struct live_changes changes;
	char why[LIVE_LINE];

	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t i = 0; i < live_room(&l.room, o); i++) {
			json_t *value;

			if (l.blocks[o][i] == NULL)
				continue;
			value = object_json(&l, o, i, true);
			assert_true(live_request(&l, LIVE_REPLACE, o, value, &changes, why));
			assert_int_equal(changes.count, 0); /* it is so already */
			json_decref(value);
		}
	}
	live_group_free(&l);
}

static void keys_are_told_to_none_but_who_asks(void **state) {
	static const char *const secret[] = {"key", "iv", "next_key", "next_iv"};
	struct live_group l = live_of(LIVE_SMALL);
	json_t *open = object_json(&l, LIVE_MODEM, 0, true);
	json_t *shut = object_json(&l, LIVE_MODEM, 0, false);

	for (size_t i = 0; i < ARRAY_COUNT(secret); i++)
		assert_null(json_object_get(json_object_get(shut, "security"), secret[i]));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(open, "security"), "key")),
		"000102030405060708090a0b0c0d0e0f");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(shut, "security"), "said")), 1);
	json_decref(open);
	json_decref(shut);
	live_group_free(&l);
}

/* The upstream takes its settings from the group of a change, whatever differs in it. */
static void a_limit_comes_with_the_rest_of_the_group(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	struct live_changes changes;
	char why[LIVE_LINE];

	assert_true(ask(&l, LIVE_SET, LIVE_GROUP, "{rate_limit: '7 Gbps'}", &changes, why));
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.list[0].group->max_frame, l.sg.max_frame);
	assert_memory_equal(&changes.list[0].group->upstream, &l.sg.upstream,
			    sizeof(l.sg.upstream));
	assert_int_equal(changes.list[0].group->rate_limit, 7000000000);
	live_changes_free(&changes);
	live_group_free(&l);
}

/* Once it is taken, a change has what was there before. */
static void limits_change_places(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	const uint64_t rate = l.sg.rate_limit, timeout = l.sg.cpe_timeout_ns;
	struct live_changes changes;
	char why[LIVE_LINE];

	assert_true(ask(&l, LIVE_SET, LIVE_GROUP, "{rate_limit: '7 Gbps', cpe_timeout: '5 s'}",
			&changes, why));
	live_changes_take(&l, &changes);
	assert_int_equal(l.sg.rate_limit, 7000000000);
	assert_int_equal(l.sg.cpe_timeout_ns, 5000000000);
	assert_int_equal(changes.list[0].group->rate_limit, rate);
	assert_int_equal(changes.list[0].group->cpe_timeout_ns, timeout);
	live_changes_free(&changes);
	live_group_free(&l);
}

/* The number of a word in a list that ends with NULL; what follows goes to `rest`. */
static unsigned word_of(const char *const words[], const char *text, const char **rest) {
	size_t size = strcspn(text, " ");
	unsigned i = 0;

	while (words[i] != NULL && (strlen(words[i]) != size || memcmp(words[i], text, size) != 0))
		i++;
	if (words[i] == NULL)
		fail_msg("%s: unknown word", text);
	*rest = text + size + 1;
	return i;
}

static void request_is(struct live_group *l, const char *request, const char *answer) {
	static const char *const verbs[] = {"add", "replace", "set", "remove", NULL};
	static const char *const objects[] = {
		[LIVE_GROUP] = "group",
		[LIVE_CHANNEL] = "channel",
		[LIVE_UPSTREAM_CHANNEL] = "upstream_channel",
		[LIVE_BONDING_GROUP] = "bonding_group",
		[LIVE_FILTER_GROUP] = "filter_group",
		[LIVE_MODEM] = "modem",
		[LIVE_OBJECTS] = NULL,
	};
	enum live_verb verb = word_of(verbs, request, &request);
	enum live_object object = word_of(objects, request, &request);

	if (answer[0] == '=')
		expect_done(l, verb, object, request, answer + 2);
	else
		expect_refused(l, verb, object, request, answer + 2);
}

static void expect_in_service(const struct live_group *l, const char *expected) {
	char *values = values_of_group(&l->sg);

	expect_values(values, expected);
	free(values);
}

static void requests_of_a_file(const struct text_case *c) {
	const char *top = c->count > 1 ? c->parts[1].text : "";
	char *text = NULL, *rest = c->parts[0].text;
	struct live_group l;

	assert_true(asprintf(&text, "%s%s", top, LIVE_SMALL) > 0);
	l = live_of(text);
	free(text);
	while (*rest != '\0') {
		const char *request = strsep(&rest, "\n"), *answer;

		if (request[0] == '.') {
			expect_in_service(&l, request + 2);
			continue;
		}
		answer = strsep(&rest, "\n");
		request_is(&l, request, answer);
	}
	live_group_free(&l);
}

int main(void) {
	static const char *const files[] = {MODEL_TEXTS "requests.txt", NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_comes_with_the_rest_of_the_group),
		cmocka_unit_test(limits_change_places),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(keys_are_told_to_none_but_who_asks),
	};

	return text_cases_run(files, requests_of_a_file) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
