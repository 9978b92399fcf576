/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests mix.h and deck.h: packet size mixes, their syntax and files, decks with exact shares. */
#include "core/lines.h"
#include "core/mix.h"
#include "test_main.h"

#include <unistd.h>

#define MAX_SIZE 1996

static char error[MIX_ERROR];

static int parse(const char *text, struct mix *m) {
	error[0] = '\0';
	return mix_parse(text, MAX_SIZE, m, error, sizeof(error));
}

TEST(deck_has_exact_shares) {
	struct random random = {42};
	struct mix m;
	struct deck d;

	assert_int_equal(parse("imix", &m), 0);
	assert_int_equal(mix_deck(&m, &d), 0);
	assert_int_equal(d.size, 20); /* 3 + 2 + 15 cards */
	for (int round = 0; round < 100; round++) {
		unsigned counts[3] = {0};

		for (uint32_t i = 0; i < d.size; i++)
			counts[deck_draw(&d, &random)]++;
		assert_int_equal(counts[0], 3);
		assert_int_equal(counts[1], 2);
		assert_int_equal(counts[2], 15);
	}
	deck_free(&d);
}

TEST(decks_are_reshuffled) {
	struct random random = {1};
	uint16_t first[10];
	struct deck d;
	int same = 0;

	assert_int_equal(deck_create(&d, (const uint32_t[]){50, 50}, 2), 0);
	assert_int_equal(d.size, 2); /* weights are divided by their greatest common divisor */
	deck_free(&d);
	assert_int_equal(deck_create(&d, (const uint32_t[]){5, 4}, 2), 0);
	for (unsigned i = 0; i < 9; i++)
		first[i] = deck_draw(&d, &random);
	for (int round = 0; round < 20; round++) {
		bool equal = true;

		for (unsigned i = 0; i < 9; i++)
			equal = deck_draw(&d, &random) == first[i] && equal;
		same += equal;
	}
	assert_true(same < 5);
	deck_free(&d);
	/* empty and oversized decks are rejected */
	assert_int_equal(deck_create(&d, (const uint32_t[]){0, 0}, 2), -1);
	assert_int_equal(deck_create(&d, (const uint32_t[]){1, DECK_MAX_CARDS}, 2), -1);
}

TEST(mix_syntax_is_parsed) {
	static const char *const valid[] = {"64", "1996", "84:15,256:10,1280:75", "100,200",
					    "64:10000"};
	char invalid[] = "imi|84:|84:0|:1|84:1,|84:1 ,85:1|-84|+84|84:1;85:1|99999999999|84:10001|"
			 "84:9999,85:2|0x54|Imix|largest:1|84:1.5|84%|84:1,,85:1|@";
	struct mix m;

	for (size_t i = 0; i < ARRAY_COUNT(valid); i++)
		assert_int_equal(parse(valid[i], &m), 0);
	assert_int_equal(parse("", &m), -1);
	for (char *word = strtok(invalid, "|"); word != NULL; word = strtok(NULL, "|")) {
		assert_int_equal(parse(word, &m), -1);
		assert_true(strstr(error, "allowed: ") != NULL || word[0] == '@');
		assert_null(strchr(error, '\n'));
	}
}

TEST(published_mixes_are_known_by_name) {
	static const struct {
		const char *name;
		uint32_t size, weights[3];
	} mixes[] = {
		{"imix", 84, {15, 10, 75}},
		{"imix-2017", 84, {15, 10, 75}},
		{"imix-2021", 84, {15, 10, 75}},
		{"imix-2023", 84, {15, 10, 75}},
		{"upstream-imix", 84, {65, 18, 17}},
		{"upstream-imix-2021", 84, {65, 18, 17}},
		{"upstream-imix-70", 70, {65, 18, 17}},
		{"upstream-imix-2023", 70, {65, 18, 17}},
	};
	struct mix m;

	assert_int_equal(parse("largest", &m), 0);
	assert_true(mix_mean(&m) == MAX_SIZE && mix_largest(&m) == MAX_SIZE);
	for (size_t i = 0; i < ARRAY_COUNT(mixes); i++) {
		assert_int_equal(parse(mixes[i].name, &m), 0);
		assert_int_equal(m.count, 3);
		assert_int_equal(m.sizes[0], mixes[i].size);
		assert_int_equal(m.sizes[1], 256);
		assert_int_equal(m.sizes[2], 1280);
		assert_memory_equal(m.weights, mixes[i].weights, sizeof(mixes[i].weights));
		assert_int_equal(mix_largest(&m), 1280);
		if (mixes[i].weights[0] == 15)
			assert_true(mix_mean(&m) > 998.19 && mix_mean(&m) < 998.21);
	}
}

TEST(more_than_256_sizes_are_rejected) {
	char text[4 * 257 + 1];
	struct mix m;

	for (int i = 0; i < 257; i++)
		snprintf(text + 4 * i, 5, "%d,", 100 + i);
	text[4 * 256 - 1] = '\0';
	assert_int_equal(parse(text, &m), 0);
	assert_int_equal(m.count, 256);
	text[4 * 256 - 1] = ',';
	text[4 * 257 - 1] = '\0';
	assert_int_equal(parse(text, &m), -1);
	assert_non_null(strstr(error, "at most 256 sizes"));
}

static int parse_file(const char *text, struct mix *m, char name[32]) {
	int fd, result;

	strcpy(name, "@/tmp/mix-XXXXXX");
	fd = mkstemp(name + 1);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	result = parse(name, m);
	unlink(name + 1);
	return result;
}

TEST(mix_file_is_parsed) {
	struct mix m;
	char name[32];

	assert_int_equal(
		parse_file("# sizes\n84:15\n256  10\r\n\n 1280, 75 # most\n1500", &m, name), 0);
	assert_int_equal(m.count, 4);
	assert_int_equal(m.sizes[2], 1280);
	assert_int_equal(m.weights[1], 10);
	assert_int_equal(m.weights[2], 75);
	assert_int_equal(m.weights[3], 1);
}

TEST(mix_file_errors_name_the_line) {
	static const char *const invalid[][2] = {
		{"84:15\n63:1\n", ":2: found \"63:1\", allowed: sizes of 64..1996 bytes"},
		{"# none\n\n84:0\n", ":3: found \"84:0\", allowed: a whole number of 1..10000"},
		{"84:15%\n", ":1: found \"84:15%\", allowed: a size and a weight"},
		{"banana\n", ":1: found \"banana\", allowed: a size and a weight"},
		{"", "\", allowed: a size and a weight"},
		{"84:6000\n85:6000\n", "\", allowed: weights that add up"},
	};
	struct mix m;
	char name[32];

	for (size_t i = 0; i < ARRAY_COUNT(invalid); i++) {
		assert_int_equal(parse_file(invalid[i][0], &m, name), -1);
		if (strstr(error, name + 1) == NULL || strstr(error, invalid[i][1]) == NULL)
			fail_msg("%s: %s", invalid[i][1], error);
	}
	assert_int_equal(parse("@/tmp", &m), -1);
	assert_string_equal(error, "/tmp: Is a directory");
}

TEST(long_and_binary_lines_are_rejected) {
	char text[LINES_MAX_SIZE + 16], name[32];
	struct mix m;

	memset(text, ' ', sizeof(text));
	memcpy(text, "84:1\n", 5);
	strcpy(text + 5 + LINES_MAX_SIZE, "\n85:2");
	assert_int_equal(parse_file(text, &m, name), 0);
	assert_int_equal(m.count, 2);
	memcpy(text + 5 + LINES_MAX_SIZE, " \n", 3);
	assert_int_equal(parse_file(text, &m, name), -1);
	assert_non_null(strstr(error, ":2: a line of more than 4096 bytes"));
	assert_int_equal(parse("@/dev/zero", &m), -1);
	assert_string_equal(error, "/dev/zero:1: a zero byte; needed: text");
}
