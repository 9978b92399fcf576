/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines from a file descriptor until its end or a signal. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define LINE_MAX_SIZE 65536

struct line_reader {
	int in;
	const volatile sig_atomic_t *interrupted;
	char bytes[LINE_MAX_SIZE + 1];
	size_t size; /* bytes in the buffer */
	size_t consumed; /* of these, bytes of earlier lines */
	bool ended; /* end of input was read */
	bool skipping; /* skips the rest of a line that was too long */
};

enum line {
	LINE_READ,
	LINE_TOO_LONG, /* longer than LINE_MAX_SIZE bytes; the next line follows */
	LINE_END, /* end of input, read error, or signal */
};

void line_reader_init(struct line_reader *r, int in, const volatile sig_atomic_t *interrupted);

/* Waits for a line. `line` gets its `size` bytes without the newline, valid until the next call.
 * The last line need not have a newline. */
enum line line_reader_next(struct line_reader *r, const char **line, size_t *size);
