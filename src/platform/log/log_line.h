/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats a log line. */
#pragma once

#include <stddef.h>
#include <time.h>

#include "platform/log/log.h"

/* A pipe accepts up to this size atomically, so that lines of several threads and programs are not mixed. */
#define LOG_LINE 4096

struct log_line {
	enum log_format format;
	bool journal; /* starts with the priority and omits the time, which the journal adds */
	bool foreign; /* plain format: omits the name of the program */
	const char *program;
	struct timespec time; /* since 1970 */
	enum log_level level;
	const char *area, *message;
	const struct log_field *fields; /* NULL: none */
};

/* Writes the line with its newline. Returns the number of bytes. Any input results in one line, and in valid
 * JSON. If it does not fit, the message is cut and the last fields are omitted. */
size_t log_line_write(const struct log_line *line, char out[LOG_LINE]);

const char *log_level_name(enum log_level level);
