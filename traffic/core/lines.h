/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads text files that hold one record per line. # begins a comment; empty lines are ignored. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LINES_ERROR 320
#define LINES_MAX_SIZE 4096 /* bytes of a line */

/* Called for each record, trimmed and not empty, which it may modify. Returns NULL, or a
 * description of what is allowed. */
typedef const char *lines_record(char *record, void *context);

/* Reads the file `path`. Returns true. On false, `error` (LINES_ERROR bytes) has "PATH:LINE: found
 * ..., allowed: ..." or why the file cannot be read. */
bool lines_read(const char *path, lines_record *record, void *context, char *error);
