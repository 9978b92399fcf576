/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of files of texts, each of which is a test with a name of its own. What stands before the first of these lines is
 * for readers:
 *
 *   := NAME    The lines below stand where <NAME> does, or <NAME WORD>: then with WORD in the place of each $.
 *   == NAME    A case. Its first part follows. "library: .." and "no library: .." are for machines with the crypto
 *              library, and without.
 *   -- TITLE   The next part of the case.
 *   * WORD     A row, in the first part: the case is tested for each, with WORD in the place of each $ of what stands
 *              before the rows, and the lines up to the next row behind it. $1, $2, .. are the columns of a WORD, which
 *              " | " divides.
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

/* Runs each case of these files up to NULL, whose snippets are for all of them. Returns how many have failed. */
int text_cases_run(const char *const files[], void (*test)(const struct text_case *c));

/* Takes the lines that begin so out of a text. Returns them without that; to be freed. */
char *text_take(char *text, const char *mark);

/* Compares lines with what is expected of them, which is without `prefix`. Returns how many lines there are. */
int expect_lines(const char *lines, const char *prefix, const char *expected);
