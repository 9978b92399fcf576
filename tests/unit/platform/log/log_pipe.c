/* SPDX-License-Identifier: BSD-3-Clause */
#include "test.h"

#include "log_pipe.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

uint64_t log_pipe_now;

static uint64_t pipe_clock(void) {
	return log_pipe_now;
}

void log_pipe_open(struct log_pipe *p, enum log_format format, enum log_level level) {
	struct log_options o = {
		.level = level, .format = format, .format_given = true, .clock = pipe_clock};

	memset(p, 0, sizeof(*p));
	assert_int_equal(pipe(p->fds), 0);
	assert_int_equal(fcntl(p->fds[0], F_SETFL, O_NONBLOCK), 0);
	o.fd = p->fds[1];
	log_open(&o);
}

const char *log_pipe_read(struct log_pipe *p) {
	ssize_t size;

	while ((size = read(p->fds[0], p->text + p->used, sizeof(p->text) - 1 - p->used)) > 0)
		p->used += (size_t)size;
	p->text[p->used] = '\0';
	return p->text;
}

void log_pipe_close(struct log_pipe *p) {
	log_close();
	if (p->fds[0] >= 0) {
		log_pipe_read(p);
		close(p->fds[0]);
	}
	close(p->fds[1]);
}

unsigned log_pipe_count(const char *text, const char *what) {
	unsigned count = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		count++;
	}
	return count;
}
