/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the mistakes of one file and prints the first of them in the order of their lines. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ERRORS_SHOWN 100

/* Where a value stands, from the inside out: a key of a map, or an index of a list (key NULL). */
struct path {
	const struct path *up; /* NULL at the top */
	const char *key;
	size_t index;
};

struct mistake {
	uint32_t line;
	char *text;
};

struct errors {
	const char *file;
	struct mistake shown[ERRORS_SHOWN]; /* sorted by line, those of one line as they came */
	size_t shown_count;
	uint64_t total;
};

/* Notes "FILE:LINE: PATH: found FOUND, allowed: ALLOWED". An empty path stands for the whole file; line 0 is
 * none, as a request has it. */
void errors_add(struct errors *errors, uint32_t line, const struct path *path, const char *found,
		const char *allowed);

/* `length` bytes in quotes, shortened and with all but printable ASCII escaped. */
void errors_quote(const char *text, size_t length, char *quoted, size_t size);

/* Prints the mistakes, frees them and returns how many there were (at most INT_MAX). */
int errors_print(struct errors *errors, FILE *out);
