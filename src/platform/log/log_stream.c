/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/log/log_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct log_stream {
	struct log_site site;
	enum log_level (*level)(void);
	size_t used;
	char line[LOG_MESSAGE]; /* without a newline so far */
};

static void line_end(struct log_stream *s) {
	s->line[s->used] = '\0';
	if (s->used > 0)
		log_foreign(&s->site, s->level(), s->line);
	s->used = 0;
}

/* stdio calls it under the lock of the stream. */
static ssize_t stream_write(void *cookie, const char *bytes, size_t size) {
	struct log_stream *s = cookie;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			line_end(s);
		else if (s->used < sizeof(s->line) - 1)
			s->line[s->used++] = bytes[i] != '\0' ? bytes[i] : ' ';
	}
	return (ssize_t)size;
}

/* Writes the site's summary before the site is freed. */
static int stream_close(void *cookie) {
	struct log_stream *s = cookie;

	line_end(s);
	log_forget(&s->site);
	free(s);
	return 0;
}

FILE *log_stream_open(const char *area, enum log_level (*level)(void)) {
	static const cookie_io_functions_t functions = {
		.write = stream_write,
		.close = stream_close,
	};
	struct log_stream *s = calloc(1, sizeof(*s));
	FILE *f;

	if (s == NULL)
		return NULL;
	s->site.area = area;
	s->level = level;
	f = fopencookie(s, "w", functions);
	if (f == NULL)
		free(s);
	else
		setvbuf(f, NULL, _IOLBF, BUFSIZ);
	return f;
}
