/* SPDX-License-Identifier: BSD-3-Clause */
/* A log whose lines a test reads, at times of the test's own. */
#pragma once

#include "platform/log/log.h"

#define PIPE_TEXT (1 << 20)

struct log_pipe {
	int fds[2]; /* the reader's and the writer's; -1: closed */
	char text[PIPE_TEXT]; /* that was read */
	size_t used;
};

extern uint64_t log_pipe_now; /* ns */

/* Opens the log on a pipe. */
void log_pipe_open(struct log_pipe *p, enum log_format format, enum log_level level);

/* Reads what there is, without waiting for more. Returns all that was read so far. */
const char *log_pipe_read(struct log_pipe *p);

/* Closes the log, and the pipe. What is said then is read. */
void log_pipe_close(struct log_pipe *p);

/* How often a text stands in another. */
unsigned log_pipe_count(const char *text, const char *what);
