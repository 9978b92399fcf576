/* SPDX-License-Identifier: BSD-3-Clause */
/* What lines look like, whatever bytes are in them. */
#include "test_main.h"

#include <jansson.h>

#include "platform/log/log_line.h"

static char out[LOG_LINE];

static const char *written(struct log_line line) {
	size_t size;

	line.program = "vcmtsd";
	line.area = line.area != NULL ? line.area : "group";
	size = log_line_write(&line, out);
	assert_in_range(size, 1, LOG_LINE);
	assert_int_equal(out[size - 1], '\n');
	out[size - 1] = '\0';
	assert_null(strchr(out, '\n'));
	return out;
}

static const struct log_field two[] = {LOG_NUMBER("service_group", 7),
				       LOG_STRING("name", "a b"),
				       LOG_STRING("device", "net_tap0"),
				       {0}};
static const struct timespec noon = {.tv_sec = 1700000000, .tv_nsec = 1234567};

static const struct log_field odd[] = {
	LOG_STRING("path", "a\"b\\c\nlevel=error"), LOG_STRING("none", ""), {0}};

TEST(lines_as_text) {
	static const struct {
		struct log_line line;
		const char *text;
	} cases[] = {
		/* plain is the message alone */
		{{.message = "it is 50 % done", .fields = two}, "vcmtsd: it is 50 % done"},
		{{.message = "it is 50 % done", .foreign = true}, "it is 50 % done"},
		{{.format = LOG_TEXT, .level = LEVEL_WARNING, .message = "added", .fields = two},
		 "2023-11-14T22:13:20.001234Z warning group: added "
		 "service_group=7 name=\"a b\" device=net_tap0"},
		{{.format = LOG_TEXT, .level = LEVEL_WARNING, .message = "added"},
		 "2023-11-14T22:13:20.001234Z warning group: added"},
		/* nobody begins a line of his own */
		{{.format = LOG_TEXT,
		  .journal = true,
		  .message = "one\ntwo \x1b[31m\x7f",
		  .fields = odd},
		 "<3>group: one\\x0atwo \\x1b[31m\\x7f "
		 "path=\"a\\\"b\\\\c\\x0alevel=error\" none=\"\""},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct log_line line = cases[i].line;

		line.time = noon;
		assert_string_equal(written(line), cases[i].text);
	}
}

TEST(the_journal_has_priorities_and_no_time) {
	static const char first[] = "34567";
	struct log_line line = {.format = LOG_TEXT, .journal = true, .message = "added"};

	for (unsigned l = 0; l < LEVELS; l++) {
		line.level = (enum log_level)l;
		assert_int_equal(written(line)[1], first[l]);
		assert_string_equal(out + 3, "group: added");
	}
	line.format = LOG_JSON;
	assert_memory_equal(written(line), "<7>{\"time\":", 11);
}

static json_t *parsed(struct log_line line) {
	json_t *json;

	line.format = LOG_JSON;
	json = json_loads(written(line), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	return json;
}

static const char *text_of(const json_t *json, const char *key) {
	return json_string_value(json_object_get(json, key));
}

TEST(json_is_json) {
	static const struct log_field fields[] = {
		LOG_NUMBER("most", UINT64_C(1) << 62), LOG_STRING("said", "\"\\\t"), {0}};
	struct log_line line = {.message = "grün \xff\xc0\xafz", .fields = fields, .time = noon};
	json_t *json = parsed(line);

	assert_string_equal(text_of(json, "time"), "2023-11-14T22:13:20.001234Z");
	assert_string_equal(text_of(json, "level"), "error");
	assert_string_equal(text_of(json, "area"), "group");
	assert_string_equal(text_of(json, "message"), "grün \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
	assert_int_equal(json_integer_value(json_object_get(json, "most")), INT64_C(1) << 62);
	assert_string_equal(text_of(json, "said"), "\"\\\t");
	assert_int_equal(json_object_size(json), 6);
	json_decref(json);
}

/* Characters that are right remain, and what only looks like some does not: the first and the last of each length. */
TEST(characters_are_those_of_utf8) {
	static const char right[] = "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 "
				    "\xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf";
	static const char *const wrong[] = {"\xc1\xbf",		"\x80",
					    "\xe0\x9f\xbf",	"\xed\xa0\x80",
					    "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
					    "\xf5\x80\x80\x80", "\xe1\x80",
					    "\xf1\x80\x80"};
	json_t *json = parsed((struct log_line){.message = right});

	assert_string_equal(text_of(json, "message"), right);
	json_decref(json);
	for (unsigned i = 0; i < ARRAY_COUNT(wrong); i++) {
		json = parsed((struct log_line){.message = wrong[i]});
		assert_memory_equal(text_of(json, "message"), "\xef\xbf\xbd", 3);
		json_decref(json);
	}
}

TEST(any_bytes_make_one_object) {
	static char message[2 * LOG_LINE], text[2 * LOG_LINE];
	const struct log_field fields[] = {
		LOG_STRING("first", text), LOG_NUMBER("second", 2), LOG_STRING("third", text), {0}};
	struct log_line line = {.message = message, .fields = fields};

	srandom(1);
	for (unsigned turn = 0; turn < 2000; turn++) {
		size_t most = turn % 2 == 0 ? 64 : sizeof(message);
		size_t sizes[2] = {(size_t)random() % most, (size_t)random() % most};

		for (size_t i = 0; i < sizes[0]; i++)
			message[i] = (char)(1 + random() % (turn % 3 == 0 ? 31 : 255));
		for (size_t i = 0; i < sizes[1]; i++)
			text[i] = (char)(1 + random() % 255);
		message[sizes[0]] = text[sizes[1]] = '\0';
		json_decref(parsed(line));
		line.format = LOG_TEXT;
		written(line);
		line.format = LOG_PLAIN;
		written(line);
	}
}

/* Fields are there whole, or not at all, though the message is longer than a line. */
TEST(what_is_too_long_is_cut) {
	static char message[2 * LOG_LINE], text[600];
	const struct log_field fields[] = {
		LOG_STRING("first", text), LOG_STRING("second", text), LOG_NUMBER("third", 3), {0}};
	struct log_line line = {.message = message, .fields = fields};
	json_t *json;

	memset(message, 'm', sizeof(message) - 1);
	memset(text, 't', sizeof(text) - 1);
	json = parsed(line);
	assert_string_equal(text_of(json, "first"), text);
	assert_null(json_object_get(json, "second"));
	assert_in_range(json_string_length(json_object_get(json, "message")), LOG_LINE / 2,
			LOG_LINE);
	json_decref(json);
}
