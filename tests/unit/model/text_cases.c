/* SPDX-License-Identifier: BSD-3-Clause */
#include "text_cases.h"

#include "model/devices.h"

#define MOST_CASES 300
#define MOST_SNIPPETS 80

static struct text_part snippets[MOST_SNIPPETS];
static unsigned snippet_count;
static struct text_case cases[MOST_CASES];
static unsigned case_count;
static void (*test_of_cases)(const struct text_case *c);
static const char *row_now; /* for people, where a case has rows */

static char *joined(char *text, const char *more, size_t size) {
	size_t used = text != NULL ? strlen(text) : 0;

	text = realloc(text, used + size + 1);
	assert_non_null(text);
	memcpy(text + used, more, size);
	text[used + size] = '\0';
	return text;
}

/* The snippet that `text` names behind a bracket; NULL: it is no snippet's name. */
static const struct text_part *snippet_at(const char *text) {
	size_t size = strcspn(text, " >\n");

	for (unsigned i = 0; i < snippet_count; i++) {
		if (strlen(snippets[i].title) == size &&
		    strncmp(snippets[i].title, text, size) == 0)
			return &snippets[i];
	}
	return NULL;
}

/* The column of a word. */
static const char *column_of(const char *word, size_t *size, int number) {
	const char *end = word + *size, *bar = memmem(word, *size, " | ", 3);

	for (; number > 1 && bar != NULL; number--) {
		word = bar + 3;
		bar = memmem(word, (size_t)(end - word), " | ", 3);
	}
	if (number != 1)
		fail_msg("%s has too few columns", word);
	*size = (size_t)((bar != NULL ? bar : end) - word);
	return word;
}

/* `text` with `size` bytes of `word` in the place of each $, and its columns in those of $1, $2, ..; to be freed. */
static char *filled(const char *text, const char *word, size_t size) {
	char *made = joined(NULL, "", 0);

	for (; *text != '\0'; text++) {
		const char *part = *text == '$' ? word : text;
		size_t length = *text == '$' ? size : 1;

		if (*text == '$' && text[1] >= '1' && text[1] <= '9')
			part = column_of(word, &length, *++text - '0');
		made = joined(made, part, length);
	}
	return made;
}

/* The bracket that closes the one at `text`; NULL: there is none. */
static const char *closing(const char *text) {
	unsigned open = 0;

	for (; *text != '\0' && *text != '\n'; text++) {
		open += *text == '<';
		if (*text == '>' && --open == 0)
			return text;
	}
	return NULL;
}

/* With all snippets in their places. */
static char *expanded(const char *text) {
	char *made = joined(NULL, "", 0);

	while (*text != '\0') {
		const struct text_part *snippet = *text == '<' ? snippet_at(text + 1) : NULL;
		const char *word, *end = snippet != NULL ? closing(text) : NULL;
		char *body, *inner;

		if (end == NULL) {
			made = joined(made, text++, 1);
			continue;
		}
		word = text + 1 + strlen(snippet->title);
		word += *word == ' ';
		body = filled(snippet->text, word, (size_t)(end - word));
		body[strlen(body) - 1] = '\0'; /* the end of its last line is that of the place */
		inner = expanded(body);
		made = joined(made, inner, strlen(inner));
		free(body);
		free(inner);
		text = end + 1;
	}
	return made;
}

/* Begins what a line with a mark says. Its text follows, up to the next one. */
static void part_begin(char *line, char *text) {
	struct text_part *part;

	if (line[0] == ':') {
		assert_true(snippet_count < MOST_SNIPPETS);
		part = &snippets[snippet_count++];
	} else {
		struct text_case *c;

		case_count += line[0] == '=';
		assert_in_range(case_count, 1, MOST_CASES);
		c = &cases[case_count - 1];
		assert_true(c->count < TEXT_PARTS);
		part = &c->parts[c->count++];
	}
	*part = (struct text_part){line + 3, text};
}

/* Parts point into the file's text, which stays. */
static void file_read(const char *path) {
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (file == NULL || getdelim(&text, &size, '\0', file) <= 0)
		fail_msg("%s is missing", path);
	fclose(file);
	for (char *line = text, *next; *line != '\0'; line = next) {
		next = line + strcspn(line, "\n") + 1;
		if (strncmp(line, ":= ", 3) != 0 && strncmp(line, "== ", 3) != 0 &&
		    strncmp(line, "-- ", 3) != 0)
			continue;
		next[-1] = '\0'; /* of the title */
		part_begin(line, next);
		*line = '\0'; /* of the text before */
	}
}

/* The case with `word` in the place of each $, and `more` behind that part. */
static void test_with(const struct text_case *c, const char *word, const char *more) {
	struct text_case made = *c;

	for (unsigned p = 0; p < c->count; p++) {
		char *text = filled(c->parts[p].text, word, strlen(word));

		if (p == 0)
			text = joined(text, more, strlen(more));
		made.parts[p].text = expanded(text);
		free(text);
	}
	test_of_cases(&made);
	for (unsigned p = 0; p < c->count; p++)
		free(made.parts[p].text);
}

/* Where the next row begins, or the end. */
static char *row_at(char *text) {
	while (*text != '\0' && strncmp(text, "* ", 2) != 0)
		text += strcspn(text, "\n") + 1;
	return text;
}

static bool is_for(const char *name, bool library) {
	return library ? strncmp(name, "no library: ", 12) != 0
		       : strncmp(name, "library: ", 9) != 0;
}

static void test_one(void **state) {
	struct text_case *c = *state;
	char *rows = c->parts[0].text, *row = row_at(rows), *next, *all;

	if (!is_for(c->name, crypto_has_library()))
		skip();
	all = joined(NULL, row, strlen(row));
	*row = '\0';
	if (*all == '\0')
		test_with(c, "", "");
	for (row = all; *row != '\0'; row = next) {
		char *more = row + strcspn(row, "\n"), *lines;

		*more++ = '\0';
		next = row_at(more);
		lines = joined(NULL, more, (size_t)(next - more));
		row_now = row;
		test_with(c, row + 2, lines);
		free(lines);
	}
	row_now = NULL;
	free(all);
}

int text_cases_run(const char *const files[], void (*test)(const struct text_case *c)) {
	static struct CMUnitTest tests[MOST_CASES];

	test_of_cases = test;
	for (; *files != NULL; files++)
		file_read(*files);
	for (unsigned i = 0; i < case_count; i++) {
		cases[i].name = cases[i].parts[0].title;
		tests[i] = (struct CMUnitTest){
			.name = cases[i].name, .test_func = test_one, .initial_state = &cases[i]};
	}
	return _cmocka_run_group_tests("texts", tests, case_count, NULL, NULL);
}

char *text_take(char *text, const char *mark) {
	char *taken = joined(NULL, "", 0), *left = text;

	while (*text != '\0') {
		size_t size = strcspn(text, "\n") + 1, skipped = strlen(mark);

		if (strncmp(text, mark, skipped) == 0) {
			taken = joined(taken, text + skipped, size - skipped);
		} else {
			memmove(left, text, size);
			left += size;
		}
		text += size;
	}
	*left = '\0';
	return taken;
}

int expect_lines(const char *lines, const char *prefix, const char *expected) {
	char *plain = joined(NULL, "", 0);
	int count = 0;

	for (; *lines != '\0'; count++) {
		size_t skipped = strncmp(lines, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
		size_t size = strcspn(lines, "\n");

		size += lines[size] == '\n';
		plain = joined(plain, lines + skipped, size - skipped);
		lines += size;
	}
	if (strcmp(plain, expected) != 0)
		fail_msg("%s\n%sinstead of\n%s", row_now != NULL ? row_now : "", plain, expected);
	free(plain);
	return count;
}
