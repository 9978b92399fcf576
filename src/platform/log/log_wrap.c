/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/log/log_wrap.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#define INDENT 2

unsigned log_terminal_width(int fd) {
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* UTF-8: a character of several bytes has one byte that is no continuation. */
static bool begins_character(char byte) {
	return ((unsigned char)byte & 0xC0) != 0x80;
}

size_t log_wrap(const char *line, size_t size, unsigned width, char *out, size_t capacity) {
	size_t length = 0, space = 0; /* of `out`; 0: no space in this part */
	unsigned used = 0, at_space = 0;

	for (size_t i = 0; i < size; i++) {
		out[length++] = line[i];
		used += begins_character(line[i]);
		if (line[i] == ' ' && used > INDENT + 1) {
			space = length - 1;
			at_space = used;
		}
		if (used <= width || space == 0 || line[i] == '\n' ||
		    length + INDENT + (size - i - 1) > capacity)
			continue;
		/* The space becomes a line break. */
		memmove(out + space + 1 + INDENT, out + space + 1, length - space - 1);
		out[space] = '\n';
		memset(out + space + 1, ' ', INDENT);
		length += INDENT;
		used = INDENT + used - at_space;
		space = 0;
	}
	return length;
}
