/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the mistakes of a configuration and prints the first of them in the order of their lines.
 *
 * Of several files, each has line numbers of its own, one file's behind the other's, so that a line
 * says which file it is of; and so have parts of a file whose mistakes are told with a path of their own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ERRORS_SHOWN 100
#define ERRORS_SCOPES 128

/* Where a value stands, from the inside out: a key of a map, or an index of a list (key NULL). */
struct path {
	const struct path *up; /* NULL at the top */
	const char *key;
	size_t index;
};

/* Lines that belong together: of a file, or of a part of one. */
struct errors_scope {
	const char *file;
	const struct path *up; /* before the paths of its mistakes; NULL: nothing */
	uint32_t first; /* the number of its first line among all scopes */
	uint32_t line; /* which line of the file that is, from 1 */
	uint32_t order; /* in which files are printed; 0 is the first */
};

struct mistake {
	uint32_t order; /* of its file */
	uint32_t line; /* in its file */
	char *text;
};

struct errors {
	const char *file; /* of all lines before the first scope */
	struct errors_scope scopes[ERRORS_SCOPES]; /* by their first lines */
	size_t scope_count;
	struct mistake shown[ERRORS_SHOWN]; /* sorted by line, those of one line as they came */
	size_t shown_count;
	uint64_t total;
	uint64_t repeated; /* that were not noted, as the same was before */
};

/* Lines from `scope.first` on are of this scope. False where there are too many. */
bool errors_open_scope(struct errors *errors, struct errors_scope scope);

/*
 * Notes "FILE:LINE: PATH: found FOUND, allowed: ALLOWED". An empty path stands for the whole file; line 0
 * is none, as a request has it. What
 * several service groups have in common is read for each of them: the same text is noted once.
 */
void errors_add(struct errors *errors, uint32_t line, const struct path *path, const char *found,
		const char *allowed);

/* `length` bytes in quotes, shortened and with all but printable ASCII escaped; of what may be a key, its length. */
void errors_quote(const char *text, size_t length, char *quoted, size_t size);

/* Writes where `line` is, for a mistake at line `from`: "on line 3", or "at FILE:3" of another file; line 0 is
 * "in the same request". */
void errors_where(const struct errors *errors, uint32_t line, uint32_t from, char *text,
		  size_t size);

/* Prints the mistakes, frees them and returns how many there were (at most INT_MAX). */
int errors_print(struct errors *errors, FILE *out);
