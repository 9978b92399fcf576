/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the loader of service groups with hostile YAML: it reports a clear message, and does not crash, leak or take
 * long. */
#include "model_kit.h"
#include "test_main.h"

TEST(invalid_utf8_is_rejected) {
	expect_mistakes("name: x\nmax_frame: \"\xff\"\n", 1,
			"sg.yaml:1: invalid YAML: invalid leading UTF-8 octet\n");
	expect_mistakes("\xff\xfe\n", 1, "sg.yaml:1: invalid YAML: invalid leading UTF-8 octet\n");
	expect_mistakes("a: \xc3", 1, "sg.yaml:1: invalid YAML: incomplete UTF-8 octet sequence\n");
}

TEST(multiplying_aliases_are_rejected) {
	static char text[400000];
	struct loaded loaded;
	int used;

	/* 300 kB that expand to 60,000 modems with 4,000 classifiers each */
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
	assert_non_null(strstr(loaded.messages, "filter_default: found a map of 2"));
	assert_non_null(strstr(loaded.messages, "aliases repeat more than 20 million values"));
	unload(&loaded);
}

TEST(too_many_anchors_are_rejected) {
	char text[8000] = "modems: [";

	for (int i = 0; i < 257; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "&a%d 1, ", i);
	strcat(text, "]");
	expect_mistakes(text, 1, "sg.yaml:1: more than 256 anchors in a file\n");
}

TEST(deep_nesting_is_rejected) {
	static char text[200001];

	memset(text, '[', sizeof(text) - 1);
	expect_mistakes(text, 1, "sg.yaml:1: maps and lists in more than 16 levels\n");
	memset(text, '{', sizeof(text) - 1);
	expect_mistakes(text, 1, "sg.yaml:1: maps and lists in more than 16 levels\n");
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		memcpy(&text[i], "- ", 2);
	expect_mistakes(text, 1, "sg.yaml:1: maps and lists in more than 16 levels\n");
}

TEST(messages_shorten_long_scalars) {
	const size_t size = 8u << 20;
	char *text = malloc(size + 1);
	struct loaded loaded;

	assert_non_null(text);
	memset(text, 'x', size);
	memcpy(text, "name: ", 6);
	text[size] = '\0';
	loaded = load_text(text);
	/* a name that is too long, and three required keys that are missing */
	assert_int_equal(loaded.mistakes, 4);
	assert_true(strlen(loaded.messages) < 1000);
	assert_non_null(strstr(loaded.messages, "sg.yaml:1: name: found \"xxxxxxxx"));
	unload(&loaded);
	text[2000] = ':'; /* a quoted key of 1998 characters, and its value */
	text[2001] = ' ';
	text[0] = '"';
	text[1999] = '"';
	loaded = load_text(text);
	assert_true(loaded.mistakes > 0);
	assert_true(strlen(loaded.messages) < 2000);
	unload(&loaded);
	free(text);
}

/* Truncates a valid file at each byte, and replaces each byte by YAML's indicators, control and invalid
 * characters. */
TEST(damaged_files_are_rejected_or_loaded) {
	static const char text[] = SMALL_HEAD
		"upstream_channels: [{id: 3, type: ofdma, rate: 1 Gbps, session: 7}]\n"
		"modems:\n" SMALL_MODEM "    upstream_service_flows:\n"
		"      - {id: 11, sid_clusters: [{id: 0, sids: [{channel: 3, sid: 1}]}]}\n";
	static const char letters[] = "[]{}&*!|>%@`\"'#:,-? \n\t\x01\x80"
				      "0";
	size_t valid = 0;

	for (size_t position = 0; position < strlen(text); position++) {
		for (size_t i = 0; i <= sizeof(letters); i++) {
			size_t size = i == sizeof(letters) ? position : strlen(text);
			/* allocated with its exact size, so that a sanitizer detects an overread */
			char *copy = malloc(size > 0 ? size : 1);
			struct loaded loaded;

			assert_non_null(copy);
			memcpy(copy, text, size);
			if (i < sizeof(letters))
				copy[position] = letters[i];
			loaded = load_bytes(copy, size);
			assert_int_equal(loaded.sg.arena == NULL, loaded.mistakes > 0);
			assert_int_equal(loaded.messages[0] != '\0', loaded.mistakes > 0);
			valid += loaded.mistakes == 0;
			unload(&loaded);
			free(copy);
		}
	}
	assert_true(valid > 0);
}
