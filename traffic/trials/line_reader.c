/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines with one buffer; unread bytes move to its front when more are needed. */
#include "trials/line_reader.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define POLL_MS 100 /* a signal that arrives just before poll() is noticed within this time */

void line_reader_init(struct line_reader *r, int in, const volatile sig_atomic_t *interrupted) {
	r->in = in;
	r->interrupted = interrupted;
	r->size = r->consumed = 0;
	r->ended = r->skipping = false;
}

/* Reads more input. Returns whether there are new bytes or the end. */
static bool reader_fill(struct line_reader *r) {
	struct pollfd wait = {.fd = r->in, .events = POLLIN};
	ssize_t n;

	memmove(r->bytes, r->bytes + r->consumed, r->size - r->consumed);
	r->size -= r->consumed;
	r->consumed = 0;
	while (poll(&wait, 1, POLL_MS) <= 0) {
		if (*r->interrupted > 0)
			return false;
	}
	n = read(r->in, r->bytes + r->size, sizeof(r->bytes) - r->size);
	if (n > 0)
		r->size += (size_t)n;
	else
		r->ended = n == 0 || errno != EINTR;
	return true;
}

/* Consumes `size` bytes and the newline after them, if there is one. */
static void reader_consume(struct line_reader *r, const char **line, size_t *size, size_t bytes) {
	*line = r->bytes + r->consumed;
	*size = bytes;
	r->consumed += bytes;
	r->consumed += r->consumed < r->size;
}

enum line line_reader_next(struct line_reader *r, const char **line, size_t *size) {
	while (*r->interrupted == 0) {
		size_t available = r->size - r->consumed;
		const char *end = memchr(r->bytes + r->consumed, '\n', available);
		size_t bytes = end != NULL ? (size_t)(end - (r->bytes + r->consumed)) : available;
		bool whole = end != NULL || (r->ended && available > 0);

		if (whole || available > LINE_MAX_SIZE) {
			bool skipped = r->skipping;

			r->skipping = !whole;
			reader_consume(r, line, size, bytes);
			if (!whole && !skipped)
				return LINE_TOO_LONG;
			if (whole && !skipped)
				return LINE_READ;
			continue;
		}
		if (r->ended || !reader_fill(r))
			return LINE_END;
	}
	return LINE_END;
}
