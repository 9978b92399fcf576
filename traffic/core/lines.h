/* SPDX-License-Identifier: BSD-3-Clause */
/* Text files that hold a table: a line each row, from # on a comment, empty lines for the eye. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LINES_ERROR 320
#define LINES_MAX_SIZE 4096 /* bytes of a line */

/*
 * Takes a row, trimmed and not empty, which it may change. Returns NULL, or what would be allowed
 * instead.
 */
typedef const char *lines_row(char *row, void *context);

/*
 * Reads the file `path`. Returns true, or false with "PATH:LINE: found ..., allowed: ..." or why the file
 * cannot be read in `error` (LINES_ERROR bytes).
 */
bool lines_read(const char *path, lines_row *row, void *context, char *error);
