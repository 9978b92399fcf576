/* SPDX-License-Identifier: BSD-3-Clause */
/* What a line looks like. */
#pragma once

#include <stddef.h>
#include <time.h>

#include "platform/log/log.h"

/* A pipe takes so much at once or not at all: lines of several threads and programs are whole. */
#define LOG_LINE 4096

struct log_line {
	enum log_format format;
	bool journal; /* with the priority in front, and without the time, which the journal has */
	bool foreign; /* plain: without the name of the program */
	const char *program;
	struct timespec time; /* since 1970 */
	enum log_level level;
	const char *area, *message;
	const struct log_field *fields; /* NULL: none */
};

/* Writes it with its end of line. Returns the bytes. Whatever bytes are in it, it is one line, and JSON is JSON;
 * of what does not fit the message is cut, and fields at the end are left out. */
size_t log_line_write(const struct log_line *line, char out[LOG_LINE]);

const char *log_level_name(enum log_level level);
