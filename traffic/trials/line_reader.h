/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines from a file descriptor, while signals may ask for the end. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#define LINE_MAX_SIZE 65536

struct line_reader {
	int in;
	const volatile sig_atomic_t *interrupted;
	char bytes[LINE_MAX_SIZE + 1];
	size_t size; /* bytes that are there */
	size_t taken; /* of these, by lines before */
	bool ended; /* the input has */
	bool skipping; /* the rest of a line that was too long */
};

enum line {
	LINE_READ,
	LINE_TOO_LONG, /* of more than LINE_MAX_SIZE bytes; the next line follows */
	LINE_END, /* of the input, by an error of it, or asked for by a signal */
};

void line_reader_init(struct line_reader *r, int in, const volatile sig_atomic_t *interrupted);

/*
 * Waits for a line. `line` gets its `size` bytes without the newline, which stay until the next call.
 * A last line without a newline counts.
 */
enum line line_reader_next(struct line_reader *r, const char **line, size_t *size);
