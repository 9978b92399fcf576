/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a service group from YAML and reports all errors at once. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "model/service_group.h"

/*
 * Loads the file at `path` into `sg`, without a server's keys `power` and `metrics`. Prints every
 * error to `errors` as one line
 *
 *     FILE:LINE: KEY: found FOUND, allowed: ALLOWED
 *
 * in the order of the lines (at most 100, then a line that counts the rest). Returns 0, and the
 * caller calls service_group_free(); or the number of errors (> 0), and `sg` is empty. A file that
 * cannot be read, or is not YAML, counts as one error.
 */
int service_group_load(const char *path, struct service_group *sg, FILE *errors);

/* Does the same for `size` bytes at `text`; `name` is the file name in errors. */
int service_group_load_text(const char *name, const char *text, size_t size,
			    struct service_group *sg, FILE *errors);

/* Frees a loaded group. Accepts a zeroed struct. */
void service_group_free(struct service_group *sg);

/* Writes the JSON Schema (draft 2020-12) of both kinds of files, made from the loader's own
 * tables. */
void service_group_schema(FILE *out);
