/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the text of a configuration file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/errors.h"

#define FILE_MAX (UINT64_C(1) << 30) /* limit in bytes of all files of a configuration together */

/* Reads the whole file; freed by secret_free(). Returns NULL with errno set, also if the file has
 * more than `max` bytes. `regular` refuses pipes and devices, which may never end. */
char *file_read(const char *path, size_t max, bool regular, size_t *size);

/* Reads a whole configuration file; freed by secret_free(). Returns NULL and prints one error to
 * `out` if that fails. */
char *file_read_or_print(const char *path, bool regular, size_t *size, FILE *out);

/* Adds an error at `line` that the file `name` cannot be read, with the reason in errno. */
void file_report_error(struct errors *errors, uint32_t line, const struct path *path,
		       const char *name);
