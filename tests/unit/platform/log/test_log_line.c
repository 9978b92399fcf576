/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests log_line.h: the formats of log lines, escaping of any bytes, and the length limit. */
#include "test_main.h"

#include <jansson.h>

#include "platform/log/log_line.h"

static char out[LOG_LINE];

static const char *write_line(struct log_line line) {
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

static const struct log_field sample[] = {LOG_NUMBER("service_group", 7),
					  LOG_STRING("name", "a b"),
					  LOG_STRING("device", "net_tap0"),
					  {0}};
static const struct timespec noon = {.tv_sec = 1700000000, .tv_nsec = 1234567};

static const struct log_field odd_fields[] = {
	LOG_STRING("path", "a\"b\\c\nlevel=error"), LOG_STRING("none", ""), {0}};

TEST(text_format) {
	static const struct {
		struct log_line line;
		const char *text;
	} cases[] = {
		/* the plain format has no fields */
		{{.message = "it is 50 % done", .fields = sample}, "vcmtsd: it is 50 % done"},
		{{.message = "it is 50 % done", .foreign = true}, "it is 50 % done"},
		{{.format = LOG_TEXT, .level = LEVEL_WARNING, .message = "added", .fields = sample},
		 "2023-11-14T22:13:20.001234Z warning group: added "
		 "service_group=7 name=\"a b\" device=net_tap0"},
		{{.format = LOG_TEXT, .level = LEVEL_WARNING, .message = "added"},
		 "2023-11-14T22:13:20.001234Z warning group: added"},
		/* control characters are escaped: a value cannot start a line */
		{{.format = LOG_TEXT,
		  .journal = true,
		  .message = "one\ntwo \x1b[31m\x7f",
		  .fields = odd_fields},
		 "<3>group: one\\x0atwo \\x1b[31m\\x7f "
		 "path=\"a\\\"b\\\\c\\x0alevel=error\" none=\"\""},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		struct log_line line = cases[i].line;

		line.time = noon;
		assert_string_equal(write_line(line), cases[i].text);
	}
}

TEST(journal_lines_have_priority_and_no_time) {
	static const char first[] = "34567";
	struct log_line line = {.format = LOG_TEXT, .journal = true, .message = "added"};

	for (unsigned l = 0; l < LEVELS; l++) {
		line.level = (enum log_level)l;
		assert_int_equal(write_line(line)[1], first[l]);
		assert_string_equal(out + 3, "group: added");
	}
	line.format = LOG_JSON;
	assert_memory_equal(write_line(line), "<7>{\"time\":", 11);
}

static json_t *write_json(struct log_line line) {
	json_t *json;

	line.format = LOG_JSON;
	json = json_loads(write_line(line), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	return json;
}

static const char *json_text(const json_t *json, const char *key) {
	return json_string_value(json_object_get(json, key));
}

TEST(json_format) {
	static const struct log_field fields[] = {
		LOG_NUMBER("most", UINT64_C(1) << 62), LOG_STRING("said", "\"\\\t"), {0}};
	struct log_line line = {.message = "grün \xff\xc0\xafz", .fields = fields, .time = noon};
	json_t *json = write_json(line);

	assert_string_equal(json_text(json, "time"), "2023-11-14T22:13:20.001234Z");
	assert_string_equal(json_text(json, "level"), "error");
	assert_string_equal(json_text(json, "area"), "group");
	assert_string_equal(json_text(json, "message"),
			    "grün \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
	assert_int_equal(json_integer_value(json_object_get(json, "most")), INT64_C(1) << 62);
	assert_string_equal(json_text(json, "said"), "\"\\\t");
	assert_int_equal(json_object_size(json), 6);
	json_decref(json);
}

/* Valid UTF-8 is kept, invalid bytes are replaced: tests the limits of each character length. */
TEST(invalid_utf8_is_replaced) {
	static const char valid[] = "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 "
				    "\xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf";
	static const char *const invalid[] = {"\xc1\xbf",	  "\x80",
					      "\xe0\x9f\xbf",	  "\xed\xa0\x80",
					      "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
					      "\xf5\x80\x80\x80", "\xe1\x80",
					      "\xf1\x80\x80"};
	json_t *json = write_json((struct log_line){.message = valid});

	assert_string_equal(json_text(json, "message"), valid);
	json_decref(json);
	for (unsigned i = 0; i < ARRAY_COUNT(invalid); i++) {
		json = write_json((struct log_line){.message = invalid[i]});
		assert_memory_equal(json_text(json, "message"), "\xef\xbf\xbd", 3);
		json_decref(json);
	}
}

TEST(random_bytes_give_one_json_object) {
	static char message[2 * LOG_LINE], text[2 * LOG_LINE];
	const struct log_field fields[] = {
		LOG_STRING("first", text), LOG_NUMBER("second", 2), LOG_STRING("third", text), {0}};
	struct log_line line = {.message = message, .fields = fields};

	srandom(1);
	for (unsigned round = 0; round < 2000; round++) {
		size_t max = round % 2 == 0 ? 64 : sizeof(message);
		size_t sizes[2] = {(size_t)random() % max, (size_t)random() % max};

		for (size_t i = 0; i < sizes[0]; i++)
			message[i] = (char)(1 + random() % (round % 3 == 0 ? 31 : 255));
		for (size_t i = 0; i < sizes[1]; i++)
			text[i] = (char)(1 + random() % 255);
		message[sizes[0]] = text[sizes[1]] = '\0';
		json_decref(write_json(line));
		line.format = LOG_TEXT;
		write_line(line);
		line.format = LOG_PLAIN;
		write_line(line);
	}
}

/* A field that does not fit is omitted; the message is truncated. */
TEST(long_message_is_truncated_and_fields_omitted) {
	static char message[2 * LOG_LINE], text[600];
	const struct log_field fields[] = {
		LOG_STRING("first", text), LOG_STRING("second", text), LOG_NUMBER("third", 3), {0}};
	struct log_line line = {.message = message, .fields = fields};
	json_t *json;

	memset(message, 'm', sizeof(message) - 1);
	memset(text, 't', sizeof(text) - 1);
	json = write_json(line);
	assert_string_equal(json_text(json, "first"), text);
	assert_null(json_object_get(json, "second"));
	assert_in_range(json_string_length(json_object_get(json, "message")), LOG_LINE / 2,
			LOG_LINE);
	json_decref(json);
}
