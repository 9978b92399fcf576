/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a service group from YAML and says everything that is wrong with it at once. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "model/service_group.h"

/*
 * Loads the file at `path` into `sg`. Every mistake goes to `errors` as one line
 *
 *     FILE:LINE: KEY: found FOUND, allowed: ALLOWED
 *
 * in the order of the lines (at most 100, then a line that counts the rest).
 * Returns 0, and `sg` is to be given to service_group_free(); or the number of mistakes (> 0), and
 * `sg` holds nothing. A file that cannot be read or is no YAML counts as one mistake.
 */
int service_group_load(const char *path, struct service_group *sg, FILE *errors);

/* The same from `size` bytes at `text`, reported under the name `name`. */
int service_group_load_text(const char *name, const char *text, size_t size,
			    struct service_group *sg, FILE *errors);

/* Frees what a load made. Harmless on a zeroed struct. */
void service_group_free(struct service_group *sg);

/* Writes the JSON Schema (draft 2020-12) of both kinds of files, that the loader's own tables describe. */
void service_group_schema(FILE *out);
