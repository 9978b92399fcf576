/* SPDX-License-Identifier: BSD-3-Clause */
#include "text_cases.h"

#include "model/devices.h"

#define MAX_CASES 300
#define MAX_SNIPPETS 80

static struct text_part snippets[MAX_SNIPPETS];
static unsigned snippet_count;
static struct text_case cases[MAX_CASES];
static unsigned case_count;
static void (*test_function)(const struct text_case *c);
static const char *variant_now; /* the present variant, for messages; NULL: none */

static char *append(char *text, const char *more, size_t size) {
	size_t used = text != NULL ? strlen(text) : 0;

	text = realloc(text, used + size + 1);
	assert_non_null(text);
	memcpy(text + used, more, size);
	text[used + size] = '\0';
	return text;
}

/* The snippet whose name `text` begins with; NULL if there is none. */
static const struct text_part *find_snippet(const char *text) {
	size_t size = strcspn(text, " >\n");

	for (unsigned i = 0; i < snippet_count; i++) {
		if (strlen(snippets[i].title) == size &&
		    strncmp(snippets[i].title, text, size) == 0)
			return &snippets[i];
	}
	return NULL;
}

/* Column `number` of a word, from 1. Sets *size from the word's size to that of the column. */
static const char *find_column(const char *word, size_t *size, int number) {
	const char *end = word + *size, *bar = memmem(word, *size, " | ", 3);

	for (; number > 1 && bar != NULL; number--) {
		word = bar + 3;
		bar = memmem(word, (size_t)(end - word), " | ", 3);
	}
	if (number != 1)
		fail_msg("%s: too few columns in the variant", word);
	*size = (size_t)((bar != NULL ? bar : end) - word);
	return word;
}

/* `text` with `word` (of `size` bytes) for each $, and its columns for $1, $2, ..; the caller frees it. */
static char *substitute(const char *text, const char *word, size_t size) {
	char *made = append(NULL, "", 0);

	for (; *text != '\0'; text++) {
		const char *part = *text == '$' ? word : text;
		size_t length = *text == '$' ? size : 1;

		if (*text == '$' && text[1] >= '1' && text[1] <= '9')
			part = find_column(word, &length, *++text - '0');
		made = append(made, part, length);
	}
	return made;
}

/* The bracket that closes the one at `text`, on the same line; NULL if there is none. */
static const char *find_closing(const char *text) {
	unsigned open = 0;

	for (; *text != '\0' && *text != '\n'; text++) {
		open += *text == '<';
		if (*text == '>' && --open == 0)
			return text;
	}
	return NULL;
}

/* `text` with all snippets replaced; the caller frees it. */
static char *expand(const char *text) {
	char *made = append(NULL, "", 0);

	while (*text != '\0') {
		const struct text_part *snippet = *text == '<' ? find_snippet(text + 1) : NULL;
		const char *word, *end = snippet != NULL ? find_closing(text) : NULL;
		char *body, *inner;

		if (end == NULL) {
			made = append(made, text++, 1);
			continue;
		}
		word = text + 1 + strlen(snippet->title);
		word += *word == ' ';
		body = substitute(snippet->text, word, (size_t)(end - word));
		body[strlen(body) - 1] = '\0'; /* without the snippet's last newline */
		inner = expand(body);
		made = append(made, inner, strlen(inner));
		free(body);
		free(inner);
		text = end + 1;
	}
	return made;
}

/* Begins the snippet, case or part of a marked line. `text` follows the line. */
static void begin_part(char *line, char *text) {
	struct text_part *part;

	if (line[0] == ':') {
		assert_true(snippet_count < MAX_SNIPPETS);
		part = &snippets[snippet_count++];
	} else {
		struct text_case *c;

		case_count += line[0] == '=';
		assert_in_range(case_count, 1, MAX_CASES);
		c = &cases[case_count - 1];
		assert_true(c->count < TEXT_PARTS);
		part = &c->parts[c->count++];
	}
	*part = (struct text_part){line + 3, text};
}

/* Parts point into the file's text, which is never freed. */
static void read_file(const char *path) {
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (file == NULL || getdelim(&text, &size, '\0', file) <= 0)
		fail_msg("cannot read %s", path);
	fclose(file);
	for (char *line = text, *next; *line != '\0'; line = next) {
		next = line + strcspn(line, "\n") + 1;
		if (strncmp(line, ":= ", 3) != 0 && strncmp(line, "== ", 3) != 0 &&
		    strncmp(line, "-- ", 3) != 0)
			continue;
		next[-1] = '\0'; /* ends the title */
		begin_part(line, next);
		*line = '\0'; /* ends the text before */
	}
}

/* Runs the case with `word` for each $, and `more` appended to its first part. */
static void run_with(const struct text_case *c, const char *word, const char *more) {
	struct text_case made = *c;

	for (unsigned p = 0; p < c->count; p++) {
		char *text = substitute(c->parts[p].text, word, strlen(word));

		if (p == 0)
			text = append(text, more, strlen(more));
		made.parts[p].text = expand(text);
		free(text);
	}
	test_function(&made);
	for (unsigned p = 0; p < c->count; p++)
		free(made.parts[p].text);
}

/* The begin of the next variant, or the end of the text. */
static char *find_variant(char *text) {
	while (*text != '\0' && strncmp(text, "* ", 2) != 0)
		text += strcspn(text, "\n") + 1;
	return text;
}

static bool is_enabled(const char *name, bool library) {
	return library ? strncmp(name, "no library: ", 12) != 0
		       : strncmp(name, "library: ", 9) != 0;
}

static void run_case(void **state) {
	struct text_case *c = *state;
	char *variant = find_variant(c->parts[0].text), *next, *all;

	if (!is_enabled(c->name, crypto_has_library()))
		skip();
	all = append(NULL, variant, strlen(variant));
	*variant = '\0';
	if (*all == '\0')
		run_with(c, "", "");
	for (variant = all; *variant != '\0'; variant = next) {
		char *more = variant + strcspn(variant, "\n"), *lines;

		*more++ = '\0';
		next = find_variant(more);
		lines = append(NULL, more, (size_t)(next - more));
		variant_now = variant;
		run_with(c, variant + 2, lines);
		free(lines);
	}
	variant_now = NULL;
	free(all);
}

int text_cases_run(const char *const files[], void (*test)(const struct text_case *c)) {
	static struct CMUnitTest tests[MAX_CASES];

	test_function = test;
	for (; *files != NULL; files++)
		read_file(*files);
	for (unsigned i = 0; i < case_count; i++) {
		cases[i].name = cases[i].parts[0].title;
		tests[i] = (struct CMUnitTest){
			.name = cases[i].name, .test_func = run_case, .initial_state = &cases[i]};
	}
	return _cmocka_run_group_tests("texts", tests, case_count, NULL, NULL);
}

char *extract_lines(char *text, const char *mark) {
	char *extracted = append(NULL, "", 0), *kept = text;

	while (*text != '\0') {
		size_t size = strcspn(text, "\n") + 1, skipped = strlen(mark);

		if (strncmp(text, mark, skipped) == 0) {
			extracted = append(extracted, text + skipped, size - skipped);
		} else {
			memmove(kept, text, size);
			kept += size;
		}
		text += size;
	}
	*kept = '\0';
	return extracted;
}

int expect_lines(const char *lines, const char *prefix, const char *expected) {
	char *plain = append(NULL, "", 0);
	int count = 0;

	for (; *lines != '\0'; count++) {
		size_t skipped = strncmp(lines, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
		size_t size = strcspn(lines, "\n");

		size += lines[size] == '\n';
		plain = append(plain, lines + skipped, size - skipped);
		lines += size;
	}
	if (strcmp(plain, expected) != 0)
		fail_msg("%s\n%sexpected:\n%s", variant_now != NULL ? variant_now : "", plain,
			 expected);
	free(plain);
	return count;
}
