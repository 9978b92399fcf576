/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/log/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/log/log_line.h"
#include "platform/log/log_out.h"
#include "platform/log/log_wrap.h"

/* `lock` protects all of this, except what is constant while the log is open. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct log_options options = {.level = LEVEL_NOTICE};
static bool is_open, journal;
static const char *program = "vcmtsd";
static struct log_out out;
static uint64_t lost;
static struct log_site *pending;
static struct log_site lost_site = {.level = LEVEL_WARNING, .area = "log"};

static const char *const formats[LOG_FORMATS] = {"plain", "text", "json"};

bool log_level_parse(const char *name, enum log_level *level) {
	for (unsigned l = 0; l < LEVELS; l++) {
		if (strcmp(name, log_level_name((enum log_level)l)) == 0) {
			*level = (enum log_level)l;
			return true;
		}
	}
	return false;
}

bool log_format_parse(const char *name, enum log_format *format) {
	for (unsigned f = 0; f < LOG_FORMATS; f++) {
		if (strcmp(name, formats[f]) == 0) {
			*format = (enum log_format)f;
			return true;
		}
	}
	return false;
}

static uint64_t system_clock(void) {
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t log_clock(void) {
	return options.clock != NULL ? options.clock() : system_clock();
}

/* systemd names the journal's socket; stderr may have been redirected since. */
static bool is_journal(int fd) {
	const char *stream = getenv("JOURNAL_STREAM");
	uint64_t device, inode;
	struct stat status;

	return stream != NULL && sscanf(stream, "%" SCNu64 ":%" SCNu64, &device, &inode) == 2 &&
	       fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/* Writes a line without rate limit. Returns whether it was written. */
static bool line_out(const struct log_site *site, enum log_level level, bool foreign,
		     const char *message, const struct log_field *fields) {
	struct log_line line = {
		.format = is_open ? options.format : LOG_PLAIN,
		.journal = is_open && journal,
		.foreign = foreign,
		.program = program,
		.level = level,
		.area = site->area,
		.message = message,
		.fields = fields,
	};
	unsigned width =
		line.format == LOG_PLAIN ? log_terminal_width(is_open ? out.fd : STDERR_FILENO) : 0;
	char bytes[LOG_LINE], wrapped[LOG_LINE];
	const char *text = bytes;
	size_t size;

	clock_gettime(CLOCK_REALTIME, &line.time);
	size = log_line_write(&line, bytes);
	if (width > 0) {
		size = log_wrap(bytes, size, width, wrapped, sizeof(wrapped));
		text = wrapped;
	}
	if (is_open)
		return log_out_write(&out, text, size);
	fwrite(text, 1, size, stderr);
	return true;
}

static void lose_or_write(const struct log_site *site, enum log_level level, bool foreign,
			  const char *message, const struct log_field *fields) {
	if (lost > 0) {
		const struct log_field number[] = {LOG_NUMBER("lost", lost), {0}};
		char text[64];

		snprintf(text, sizeof(text), "%" PRIu64 " lines were lost: the output was blocked",
			 lost);
		if (line_out(&lost_site, lost_site.level, false, text, number))
			lost = 0;
	}
	if (!line_out(site, level, foreign, message, fields))
		lost++;
}

static void write_suppressed(struct log_site *site) {
	const struct log_field number[] = {LOG_NUMBER("suppressed", site->suppressed), {0}};
	char text[sizeof(site->last) + 64];

	snprintf(text, sizeof(text), "%" PRIu64 " more suppressed, the last: %s", site->suppressed,
		 site->last);
	site->suppressed = 0;
	lose_or_write(site, site->level, false, text, number);
}

/* Writes the summaries of sites whose window is over, or of all. */
static void write_pending(uint64_t now, bool all) {
	struct log_site **at = &pending;

	while (*at != NULL) {
		struct log_site *site = *at;

		if (!all && now - site->since < LOG_WINDOW_NS) {
			at = &site->next;
			continue;
		}
		*at = site->next;
		site->listed = false;
		write_suppressed(site);
	}
}

static void suppress(struct log_site *site, const char *message) {
	site->suppressed++;
	snprintf(site->last, sizeof(site->last), "%s", message);
	if (site->listed)
		return;
	site->listed = true;
	site->next = pending;
	pending = site;
}

static void site_write(struct log_site *site, enum log_level level, bool foreign,
		       const char *message, const struct log_field *fields) {
	uint64_t now = log_clock();

	pthread_mutex_lock(&lock);
	write_pending(now, false);
	if (site->count == 0 || now - site->since >= LOG_WINDOW_NS) {
		site->since = now;
		site->count = 0;
	}
	if (!is_open || site->count < LOG_BURST) {
		site->count++;
		lose_or_write(site, level, foreign, message, fields);
	} else {
		suppress(site, message);
	}
	pthread_mutex_unlock(&lock);
}

void log_write(struct log_site *site, const struct log_field *fields, const char *format, ...) {
	char message[LOG_MESSAGE];
	va_list list;

	if (site->level > options.level)
		return;
	va_start(list, format);
	vsnprintf(message, sizeof(message), format, list);
	va_end(list);
	site_write(site, site->level, false, message, fields);
}

void log_foreign(struct log_site *site, enum log_level level, const char *line) {
	if (level <= options.level)
		site_write(site, level, true, line, LOG_NO_FIELDS);
}

void log_forget(struct log_site *site) {
	pthread_mutex_lock(&lock);
	for (struct log_site **at = &pending; *at != NULL; at = &(*at)->next) {
		if (*at != site)
			continue;
		*at = site->next;
		write_suppressed(site);
		break;
	}
	pthread_mutex_unlock(&lock);
}

void log_program(const char *name) {
	program = name;
}

bool log_is_open(void) {
	return is_open;
}

enum log_format log_format(void) {
	return options.format;
}

void log_open(const struct log_options *o) {
	options = *o;
	journal = is_journal(o->fd);
	if (journal && !o->format_given)
		options.format = LOG_TEXT;
	log_out_open(&out, o->fd);
	lost = 0;
	is_open = true;
}

void log_tick(void) {
	if (!is_open)
		return;
	pthread_mutex_lock(&lock);
	write_pending(log_clock(), false);
	pthread_mutex_unlock(&lock);
}

void log_close(void) {
	if (!is_open)
		return;
	pthread_mutex_lock(&lock);
	write_pending(0, true);
	is_open = false;
	options = (struct log_options){.level = LEVEL_NOTICE};
	log_out_close(&out);
	pthread_mutex_unlock(&lock);
}
