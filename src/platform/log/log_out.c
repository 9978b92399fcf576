/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/log/log_out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/log/log.h"

#define NAME_SIZE 40

void log_out_open(struct log_out *o, int fd) {
	char name[NAME_SIZE];
	struct stat status;
	int own = -1;

	*o = (struct log_out){.fd = fd};
	if (fstat(fd, &status) != 0)
		return;
	o->socket = S_ISSOCK(status.st_mode);
	/* The file offset belongs to the open file description: with a second one, our lines and those of
	 * other writers would overwrite each other. */
	if (!S_ISFIFO(status.st_mode) && !isatty(fd))
		return;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	own = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0)
		return;
	o->fd = own;
	o->own = true;
}

void log_out_close(struct log_out *o) {
	if (o->own)
		close(o->fd);
	*o = (struct log_out){.fd = -1};
}

static long now_ms(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until the output is writable. Returns false at the time limit. */
static bool wait_for(struct log_out *o, long until) {
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};

	for (;;) {
		long left = o->stuck ? 0 : until - now_ms();
		int ret = poll(&p, 1, left > 0 ? (int)left : 0);

		if (ret > 0)
			return true;
		if (ret == 0) {
			o->stuck = true;
			return false;
		}
		if (errno != EINTR)
			return false;
	}
}

static ssize_t emit(const struct log_out *o, const char *bytes, size_t size) {
	if (o->socket)
		return send(o->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write(o->fd, bytes, size);
}

bool log_out_write(struct log_out *o, const char *line, size_t size) {
	long until = now_ms() + LOG_TIMEOUT_MS;
	bool refuses = o->own || o->socket; /* otherwise a write could block, so poll first */
	size_t done = 0;

	while (done < size && (refuses || wait_for(o, until))) {
		ssize_t written = o->partial ? emit(o, "\n", 1) : emit(o, line + done, size - done);

		if (written > 0) {
			o->stuck = false;
			done += o->partial ? 0 : (size_t)written;
			o->partial = false;
		} else if (written < 0 && errno != EINTR &&
			   (errno != EAGAIN || now_ms() >= until || !wait_for(o, until))) {
			break;
		}
	}
	o->partial = o->partial || (done > 0 && done < size);
	return done == size;
}
