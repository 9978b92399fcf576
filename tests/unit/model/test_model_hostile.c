/* SPDX-License-Identifier: BSD-3-Clause */
/* YAML that means harm: one clear line, no crash, no leak, no long wait. */
#include "test_model.h"

static void expect_one_line(const char *text, const char *line) {
	expect_mistakes(text, 1, line);
}

static void files_that_are_no_service_group(void **state) {
	(void)state;
	expect_one_line(
		"", "sg.yaml:1: file: found an empty file, allowed: the keys of a service group\n");
	expect_one_line(
		"# nothing\n\n",
		"sg.yaml:1: file: found an empty file, allowed: the keys of a service group\n");
	expect_one_line("- 1\n",
			"sg.yaml:1: file: found no map, allowed: the keys of a service group\n");
	expect_one_line("\njust words\n",
			"sg.yaml:2: file: found no map, allowed: the keys of a service group\n");
	expect_one_line(SMALL "---\nname: second\n",
			"sg.yaml:9: file: found a second document, allowed: one document\n");
	expect_one_line("name: !!str x\n",
			"sg.yaml:1: file: found a YAML tag, allowed: values without tags\n");
	expect_one_line("name: [a\n",
			"sg.yaml:2: file: found text that is no YAML (did not find expected ',' or "
			"']', while parsing a flow sequence), allowed: YAML 1.1 in UTF-8\n");
	expect_one_line("name: x\nmax_frame: @\n",
			"sg.yaml:2: file: found text that is no YAML (found character that cannot "
			"start any token, while scanning for the next token), allowed: YAML 1.1 in "
			"UTF-8\n");
}

static void text_that_is_not_utf_8(void **state) {
	(void)state;
	expect_one_line(
		"name: x\nmax_frame: \"\xff\"\n",
		"sg.yaml:1: file: found text that is no YAML (invalid leading UTF-8 octet), "
		"allowed: YAML 1.1 in UTF-8\n");
	expect_one_line(
		"\xff\xfe\n",
		"sg.yaml:1: file: found text that is no YAML (invalid leading UTF-8 octet), "
		"allowed: YAML 1.1 in UTF-8\n");
	expect_one_line("a: \xc3",
			"sg.yaml:1: file: found text that is no YAML (incomplete UTF-8 octet "
			"sequence), allowed: YAML 1.1 in UTF-8\n");
}

static void aliases_that_hold_themselves(void **state) {
	static const char said[] = "sg.yaml:1: file: found an alias without an anchor before it, "
				   "allowed: an alias of a value that is complete\n";

	(void)state;
	expect_one_line("&top {rphy: *top}", said);
	expect_one_line("modems: &m [*m]", said);
	expect_one_line("modems: *nothing", said);
}

static void aliases_that_multiply(void **state) {
	static char text[400000];
	struct loaded loaded;
	int used;

	(void)state;
	/* 60,000 modems with 4,000 classifiers each, in 300 kB */
	used = snprintf(text, sizeof(text),
			SMALL_HEAD "filter_default: &c {family: ipv4, service_flow: 1}\n"
				   "filter_groups: &list [*c");
	for (int i = 1; i < 4000; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, ",*c");
	used += snprintf(
		text + used, sizeof(text) - (size_t)used,
		"]\nrphy: &m {mac: \"02:01:00:00:00:01\", classifiers: *list}\nmodems: [*m");
	for (int i = 1; i < 60000; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, ",*m");
	snprintf(text + used, sizeof(text) - (size_t)used, "]\n");
	loaded = load_text(text);
	assert_non_null(strstr(loaded.said, "filter_default: found a map of 2"));
	assert_non_null(strstr(loaded.said, "found aliases that multiply, allowed: 20 million "));
	unload(&loaded);
}

static void anchors_without_end(void **state) {
	char text[8000] = "modems: [";

	(void)state;
	for (int i = 0; i < 257; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "&a%d 1, ", i);
	strcat(text, "]");
	expect_one_line(
		text, "sg.yaml:1: file: found too many anchors, allowed: 256 anchors in a file\n");
}

static void deep_nesting(void **state) {
	static char text[200001];

	(void)state;
	memset(text, '[', sizeof(text) - 1);
	expect_one_line(text, "sg.yaml:1: file: found deep nesting, allowed: at most 16 levels\n");
	memset(text, '{', sizeof(text) - 1);
	expect_one_line(text, "sg.yaml:1: file: found deep nesting, allowed: at most 16 levels\n");
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(&text[i], "- ", 2);
	expect_one_line(text, "sg.yaml:1: file: found deep nesting, allowed: at most 16 levels\n");
}

static void scalars_without_end(void **state) {
	const size_t size = 8u << 20;
	char *text = malloc(size + 1);
	struct loaded loaded;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text, "name: ", 6);
	text[size] = '\0';
	loaded = load_text(text);
	assert_int_equal(loaded.mistakes, 4); /* and the three keys that are needed */
	assert_true(strlen(loaded.said) < 1000);
	assert_non_null(strstr(loaded.said, "sg.yaml:1: name: found \"xxxxxxxx"));
	unload(&loaded);
	text[2000] = ':'; /* a key of 2000 letters */
	text[2001] = ' ';
	text[0] = '"';
	text[1999] = '"';
	loaded = load_text(text);
	assert_true(loaded.mistakes > 0);
	assert_true(strlen(loaded.said) < 2000);
	unload(&loaded);
	free(text);
}

/* Every beginning of a good file is refused or good; none crashes. */
static void every_truncation(void **state) {
	(void)state;
	for (size_t size = 0; size < strlen(SMALL); size++) {
		/* in a block of its own, so that a sanitizer sees a read past the end */
		char *text = malloc(size > 0 ? size : 1);
		struct loaded loaded;

		assert_non_null(text);
		memcpy(text, SMALL, size);
		loaded = load_bytes(text, size);
		assert_int_equal(loaded.sg.arena == NULL, loaded.mistakes > 0);
		assert_int_equal(loaded.said[0] != '\0', loaded.mistakes > 0);
		unload(&loaded);
		free(text);
	}
}

/* Every single byte of a good file replaced by each of the letters that mean something in YAML. */
static void every_letter_changed(void **state) {
	static const char letters[] = "[]{}&*!|>%@`\"'#:,-? \n\t\x01\x80"
				      "0";
	size_t good = 0;

	(void)state;
	for (size_t place = 0; place < strlen(SMALL); place++) {
		for (size_t i = 0; i < sizeof(letters); i++) {
			char text[] = SMALL;
			struct loaded loaded;

			text[place] = letters[i];
			loaded = load_bytes(text, strlen(SMALL));
			assert_int_equal(loaded.sg.arena == NULL, loaded.mistakes > 0);
			good += loaded.mistakes == 0;
			unload(&loaded);
		}
	}
	assert_true(good > 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_are_no_service_group),
		cmocka_unit_test(text_that_is_not_utf_8),
		cmocka_unit_test(aliases_that_hold_themselves),
		cmocka_unit_test(aliases_that_multiply),
		cmocka_unit_test(anchors_without_end),
		cmocka_unit_test(deep_nesting),
		cmocka_unit_test(scalars_without_end),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(every_letter_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
