/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a configuration, from where it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/errors.h"

#define FILE_MOST (UINT64_C(1) << 30) /* bytes of all files of a configuration together */

/*
 * The whole file, to be freed by secret_free(); NULL with errno set, also where it has more than `most` bytes. With
 * `regular` it is no pipe or device, whose end may never come.
 */
char *file_read(const char *path, size_t most, bool regular, size_t *size);

/* The whole file of a configuration, to be freed by secret_free(); or NULL after one mistake, which is told on `told`. */
char *file_read_or_tell(const char *path, bool regular, size_t *size, FILE *told);

/* Reports, at `line`, that there is no text, as errno says. */
void file_refuse(struct errors *errors, uint32_t line, const struct path *path);
