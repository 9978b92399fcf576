/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs test cases from text files; each case is a named test. Lines before the first marked line are comments. Marks:
 *
 *   := NAME    A snippet. It replaces <NAME>, or <NAME WORD> with WORD for each $ of the snippet.
 *   == NAME    A case; its first part follows. "library: .." and "no library: .." run only with or without the crypto
 *              library.
 *   -- TITLE   The next part of the case.
 *   * WORD     A variant, at the end of the first part. The case runs once per variant: WORD replaces each $ in all
 *              parts, and the lines up to the next variant are appended to the first part. $1, $2, .. are the
 *              columns of WORD, separated by " | ".
 */
#pragma once

#include "test.h"

#define MODEL_TEXTS VECTORS_DIR "/../unit/model/texts/"
#define TEXT_PARTS 8

struct text_part {
	char *title, *text;
};

struct text_case {
	char *name;
	struct text_part parts[TEXT_PARTS];
	unsigned count; /* of parts */
};

/* Runs each case of the files, a list up to NULL that shares snippets. Returns the number of failed cases. */
int text_cases_run(const char *const files[], void (*test)(const struct text_case *c));

/* Removes the lines that begin with `mark` from `text`. Returns them without the mark; the caller frees them. */
char *extract_lines(char *text, const char *mark);

/* Asserts that `lines`, without `prefix` at their begin, are `expected`. Returns the number of lines. */
int expect_lines(const char *lines, const char *prefix, const char *expected);
