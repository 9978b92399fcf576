/* SPDX-License-Identifier: BSD-3-Clause */
/* A log whose lines a test reads, at times of the test's own. */
#pragma once

#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "platform/log/log.h"

#define PIPE_TEXT (1 << 20)

struct log_pipe {
	int fds[2]; /* the reader's and the writer's */
	char text[PIPE_TEXT]; /* that was read */
	size_t used;
};

static uint64_t log_pipe_now; /* ns */

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

/* Reads what there is, without waiting for more. Returns all that was read so far. */
static inline const char *log_pipe_read(struct log_pipe *p) {
	ssize_t size;

	while ((size = read(p->fds[0], p->text + p->used, sizeof(p->text) - 1 - p->used)) > 0)
		p->used += (size_t)size;
	p->text[p->used] = '\0';
	return p->text;
}

/* What is said at the end is read, too. */
static inline void log_pipe_close(struct log_pipe *p) {
	log_close();
	log_pipe_read(p);
	close(p->fds[0]);
	close(p->fds[1]);
}

/* How often a text stands in another. */
static inline unsigned log_pipe_count(const char *text, const char *what) {
	unsigned count = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		count++;
	}
	return count;
}
