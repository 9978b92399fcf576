/* SPDX-License-Identifier: BSD-3-Clause */
/* Breaks log lines between words where a terminal would break them within words. */
#pragma once

#include <stddef.h>

/* Characters of a line of the terminal `fd`; 0 if it is none. */
unsigned log_terminal_width(int fd);

/* Copies a line to `out`, with line breaks so that each part has at most `width` characters, if its
 * words permit. Parts after the first are indented by two. Returns the number of bytes: at most
 * `capacity`, which must be at least `size`; a line that does not fit has fewer breaks. */
size_t log_wrap(const char *line, size_t size, unsigned width, char *out, size_t capacity);
