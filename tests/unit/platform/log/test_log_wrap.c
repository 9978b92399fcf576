/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests log_wrap.h: lines in a terminal. */
#include "test_main.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "platform/log/log_wrap.h"

static char out[4096];

static const char *wrap(const char *line, unsigned columns, size_t capacity) {
	size_t size = log_wrap(line, strlen(line), columns, out, capacity);

	assert_in_range(size, strlen(line), capacity);
	out[size] = '\0';
	return out;
}

TEST(breaks_between_words) {
	static const struct {
		const char *line;
		unsigned columns;
		const char *wrapped;
	} cases[] = {
		{"vcmtsd: one two\n", 15, "vcmtsd: one two\n"},
		{"vcmtsd: one two\n", 14, "vcmtsd: one\n  two\n"},
		{"vcmtsd: one two three four\n", 12, "vcmtsd: one\n  two three\n  four\n"},
		/* a word wider than the terminal stays whole */
		{"vcmtsd: /a/path/of/some/file gone\n", 12,
		 "vcmtsd:\n  /a/path/of/some/file\n  gone\n"},
		/* characters of two and three bytes have one column */
		{"a: \xc3\xbc\xc3\xbc\xc3\xbc \xe2\x82\xac\xe2\x82\xac b\n", 11,
		 "a: \xc3\xbc\xc3\xbc\xc3\xbc \xe2\x82\xac\xe2\x82\xac b\n"},
		{"a: \xc3\xbc\xc3\xbc\xc3\xbc \xe2\x82\xac\xe2\x82\xac b\n", 10,
		 "a: \xc3\xbc\xc3\xbc\xc3\xbc \xe2\x82\xac\xe2\x82\xac\n  b\n"},
		{"", 10, ""},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++)
		assert_string_equal(wrap(cases[i].line, cases[i].columns, sizeof(out) - 1),
				    cases[i].wrapped);
}

TEST(fits_its_output) {
	const char *line = "one two three four five six seven\n";

	for (size_t spare = 0; spare < 14; spare++) {
		const char *wrapped = wrap(line, 8, strlen(line) + spare);
		unsigned breaks = 0;

		for (const char *c = wrapped; *c != '\0'; c++)
			breaks += *c == '\n';
		assert_int_equal(breaks, 1 + (spare / 2 < 5 ? spare / 2 : 5));
	}
}

TEST(columns_of_a_terminal) {
	struct winsize size = {.ws_col = 80, .ws_row = 24};
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_true(master >= 0);
	assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
	assert_int_equal(log_terminal_width(master), 80);
	assert_int_equal(log_terminal_width(ends[1]), 0);
	close(ends[0]);
	close(ends[1]);
	close(master);
}
