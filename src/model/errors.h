/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the errors of a configuration and prints the first of them in the order of their lines.
 * With several files, the lines of a file are numbered after those of the file before, so that a
 * number identifies the file. A part of a file whose errors have a path prefix is numbered
 * likewise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ERRORS_SHOWN 100
#define ERRORS_SCOPES 128
#define ERRORS_WHERE_SIZE 448 /* enough for errors_where() */

/* The path of a value, from the inside out: a key of a map, or an index of a list (key NULL). */
struct path {
	const struct path *up; /* NULL at the top */
	const char *key;
	size_t index;
};

/* Lines of one scope: a file, or a part of one. */
struct errors_scope {
	const char *file;
	const struct path *up; /* prefix of the paths of its errors; NULL: none */
	uint32_t first; /* the number of its first line, counted over all scopes */
	uint32_t line; /* the number of that line in the file, from 1 */
	uint32_t order; /* order in which files are printed, from 0 */
};

struct config_error {
	uint32_t order; /* of its file */
	uint32_t line; /* in its file */
	char *text;
};

struct errors {
	const char *file; /* scope of all lines before the first added scope */
	struct errors_scope scopes[ERRORS_SCOPES]; /* sorted by their first lines */
	size_t scope_count;
	/* sorted by line; on one line in the order of errors_add() */
	struct config_error shown[ERRORS_SHOWN];
	size_t shown_count;
	uint64_t total;
	uint64_t repeated; /* errors that are not listed, as an equal error is */
};

/* Starts a scope: lines from `scope.first` on belong to it. Returns false if there are too many. */
bool errors_open_scope(struct errors *errors, struct errors_scope scope);

/*
 * Adds "FILE:LINE: PATH: TEXT"; `format` and its arguments make the text, as in printf(). Without a
 * path (NULL), the text is about the whole file or scope. Line 0 means no line, as in a request.
 * Values that service groups share are read once per group, so equal errors are listed once.
 * The functions below have the texts of frequent errors.
 */
void errors_say(struct errors *errors, uint32_t line, const struct path *path, const char *format,
		...) __attribute__((format(printf, 4, 5)));

/* The value itself is wrong: "found FOUND, allowed: ALLOWED". FOUND quotes or describes the value,
 * ALLOWED describes valid values. */
void errors_add(struct errors *errors, uint32_t line, const struct path *path, const char *found,
		const char *allowed);

/* A key is absent: "missing; needed: NEEDED". The line is that of the map. */
void errors_add_missing(struct errors *errors, uint32_t line, const struct path *path,
			const char *needed);

/* A value or key may occur once: "duplicate WHAT, first on line FIRST". */
void errors_add_duplicate(struct errors *errors, uint32_t line, const struct path *path,
			  const char *what, uint32_t first);

/* Memory ran out. */
void errors_add_no_memory(struct errors *errors);

/* Quotes `length` bytes, shortened and with all but printable ASCII escaped. Writes only the length
 * of a text that may be a key. */
void errors_quote(const char *text, size_t length, char *quoted, size_t size);

/* Writes the location of `line` for an error at line `from`: "on line 3", or "at FILE:3" in another
 * file; line 0 is "in the same request". */
void errors_where(const struct errors *errors, uint32_t line, uint32_t from, char *text,
		  size_t size);

/* Prints the errors, frees them and returns their number (at most INT_MAX). */
int errors_print(struct errors *errors, FILE *out);
