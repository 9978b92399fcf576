/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests yaml_edit.c, yaml_spans.c and yaml_text.c: texts before and after changes of the list `modems`. */
#include <stdlib.h>
#include <string.h>

#include "test_main.h"

#include "model/save/yaml_edit.h"

/* A change of the list: index of an item to remove and of one to replace (-1: none), and items to add. */
static const struct {
	const char *before;
	int removed, replaced;
	const char *added;
	const char *after; /* NULL: it cannot be changed in place */
} cases[] = {
	{"modems:\n  - {id: 1} # one\n  # two\n  - id: 2\n    x: 5 # five\n# end\n", 0, -1, "[]",
	 "modems:\n  # two\n  - id: 2\n    x: 5 # five\n# end\n"},
	{"modems:\n  - {id: 1} # one\n  # two\n  - id: 2\n    x: 5 # five\n# end\n", -1, 1,
	 "[{\"id\": 3}]",
	 "modems:\n  - {id: 1} # one\n  # two\n  - {id: 9} # five\n  - {id: 3}\n# end\n"},
	{"modems:\n- id: 1\n- id: 2\nx: 1\n", 1, -1, "[]", "modems:\n- id: 1\nx: 1\n"},
	{"modems:\n- id: 1\n- id: 2", 1, 0, "[{\"id\": 3}]", "modems:\n- {id: 9}\n- {id: 3}\n"},
	{"modems:\n- id: 1\nx: 1\n", 0, -1, "[]", "modems:\n  []\nx: 1\n"},
	{"a: \xc3\xbc\nmodems: [{id: 1}, {id: 2}] # all\nx: 1\n", 0, 1, "[{\"id\": 3}]",
	 "a: \xc3\xbc\nmodems: [{id: 9}, {id: 3}] # all\nx: 1\n"},
	{"modems: [{id: 1}]\n", 0, -1, "[]", "modems: []\n"},
	{"modems:\n  - # first\n    id: 1\n  - id: 2\n", 0, -1, "[]", "modems:\n  - id: 2\n"},
	{"modems:\r\n  - id: 1\r\n  - id: 2\r\n", 0, -1, "[]", "modems:\r\n  - id: 2\r\n"},
	{"modems: [{id: 1}, # one\n  {id: 2}]\n", 0, -1, "[]", NULL},
	{"m: &m [{id: 1}]\nmodems: *m\n", -1, -1, "[{\"id\": 3}]", NULL},
};

static void edit(struct yaml_edit *e, const struct span *list, int removed, int replaced,
		 const char *added) {
	bool removals[8] = {false};
	json_t *values[8] = {NULL};
	struct yaml_items items = {values, removals, json_loads(added, 0, NULL)};

	if (removed >= 0)
		removals[removed] = true;
	if (replaced >= 0)
		values[replaced] = json_pack("{s:i}", "id", 9);
	yaml_edit_list(e, list, &items);
	if (replaced >= 0)
		json_decref(values[replaced]);
	json_decref(items.added);
}

TEST(lists_change_and_other_text_stays) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct secret_text next = {0};
		struct yaml_edit e;

		yaml_edit_open(&e, cases[i].before, strlen(cases[i].before));
		assert_null(e.failed);
		edit(&e, span_value(e.root, "modems"), cases[i].removed, cases[i].replaced,
		     cases[i].added);
		assert_int_equal(e.failed != NULL, cases[i].after == NULL);
		if (e.failed == NULL) {
			yaml_edit_write(&e, &next);
			assert_false(next.failed);
			secret_text_put(&next, "", 1);
			assert_string_equal(next.at, cases[i].after);
		}
		secret_text_free(&next);
		yaml_edit_free(&e);
	}
}

static void expect_set_value(const char *before, const char *value, const char *after) {
	json_t *json = json_loads(value, JSON_DECODE_ANY, NULL);
	struct secret_text next = {0};
	struct yaml_edit e;

	yaml_edit_open(&e, before, strlen(before));
	yaml_edit_value(&e, e.root, "rate", json);
	assert_null(e.failed);
	yaml_edit_write(&e, &next);
	secret_text_put(&next, "", 1);
	assert_string_equal(next.at, after);
	secret_text_free(&next);
	yaml_edit_free(&e);
	json_decref(json);
}

TEST(values_are_set) {
	expect_set_value("rate: 1 Gbps # fast\nx: 1\n", "\"2 Gbps\"",
			 "rate: 2 Gbps # fast\nx: 1\n");
	expect_set_value("x: 1 # one\n# end\n", "\"none\"", "x: 1 # one\nrate: none\n# end\n");
	expect_set_value("x: 1", "\"on\"", "x: 1\nrate: \"on\"\n");
	expect_set_value("{x: 1}\n", "\"02:00:00:00:00:01\"",
			 "{x: 1, rate: \"02:00:00:00:00:01\"}\n");
	expect_set_value("{}\n", "[\"10.0.0.1\", \"12\", 12, true]",
			 "{rate: [10.0.0.1, \"12\", 12, true]}\n");
	expect_set_value("x: 1\n", "[{\"id\": 1}]", "x: 1\nrate:\n  - {id: 1}\n");
}

/* The new key ends where the removed item begins. */
TEST(key_is_added_before_a_removed_item) {
	static const char before[] = "modems:\n  - id: 1\n  - id: 2\nx: 1\n";
	json_t *rate = json_integer(5);
	struct secret_text next = {0};
	const struct span *list;
	struct yaml_edit e;

	yaml_edit_open(&e, before, strlen(before));
	list = span_value(e.root, "modems");
	edit(&e, list, 1, -1, "[]");
	yaml_edit_value(&e, span_item(list, 0), "rate", rate);
	assert_null(e.failed);
	yaml_edit_write(&e, &next);
	assert_false(next.failed);
	secret_text_put(&next, "", 1);
	assert_string_equal(next.at, "modems:\n  - id: 1\n    rate: 5\nx: 1\n");
	secret_text_free(&next);
	yaml_edit_free(&e);
	json_decref(rate);
}

TEST(invalid_text_is_refused) {
	struct yaml_edit e;

	yaml_edit_open(&e, "a: [", 4);
	assert_non_null(e.failed);
	yaml_edit_free(&e);
}

ALL_TESTS(NULL, NULL)
