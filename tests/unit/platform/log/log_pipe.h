/* SPDX-License-Identifier: BSD-3-Clause */
/* A log that writes to a pipe, from which the test reads the lines. The test sets its clock. */
#pragma once

#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "platform/log/log.h"

#define PIPE_TEXT (1 << 20)

struct log_pipe {
	int fds[2]; /* read end, write end */
	char text[PIPE_TEXT]; /* all that was read */
	size_t used; /* bytes of `text` */
};

static uint64_t log_pipe_now; /* the log's time, ns */

static inline uint64_t log_pipe_clock(void) {
	return log_pipe_now;
}

static inline void log_pipe_open(struct log_pipe *p, enum log_format format, enum log_level level) {
	struct log_options o = {
		.level = level, .format = format, .format_given = true, .clock = log_pipe_clock};

	memset(p, 0, sizeof(*p));
	assert_int_equal(pipe(p->fds), 0);
	assert_int_equal(fcntl(p->fds[0], F_SETFL, O_NONBLOCK), 0);
	o.fd = p->fds[1];
	log_open(&o);
}

/* Reads available lines without waiting. Returns all text since log_pipe_open(). */
static inline const char *log_pipe_read(struct log_pipe *p) {
	ssize_t size;

	while ((size = read(p->fds[0], p->text + p->used, sizeof(p->text) - 1 - p->used)) > 0)
		p->used += (size_t)size;
	p->text[p->used] = '\0';
	return p->text;
}

/* Closes the log, after reading the lines that log_close() writes. */
static inline void log_pipe_close(struct log_pipe *p) {
	log_close();
	log_pipe_read(p);
	close(p->fds[0]);
	close(p->fds[1]);
}

static inline unsigned log_pipe_count(const char *text, const char *pattern) {
	unsigned count = 0;

	while ((text = strstr(text, pattern)) != NULL) {
		text += strlen(pattern);
		count++;
	}
	return count;
}
