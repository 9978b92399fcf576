/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log for operators, on stderr: plain lines for a terminal, text with fields, or JSON (docs/install.md).
 * Any thread may log, except a worker in its round: logging formats, locks and writes. Each place in the code
 * has its own rate limit: LOG_BURST lines in LOG_WINDOW_NS, then one line with the number of suppressed ones.
 * If nothing reads stderr, one line waits for LOG_TIMEOUT_MS; further lines are lost and counted until it is
 * read again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LOG_BURST 20
#define LOG_WINDOW_NS UINT64_C(10000000000)
#define LOG_TIMEOUT_MS 50
#define LOG_MESSAGE 1536 /* bytes of a message; longer ones are cut */

/* In the order of syslog levels, which start at 3. */
enum log_level {
	LEVEL_ERROR, /* a function failed */
	LEVEL_WARNING, /* degraded: an operator should check */
	LEVEL_NOTICE, /* messages that vcmtsd always writes */
	LEVEL_INFO, /* events */
	LEVEL_DEBUG, /* details of events */
	LEVELS,
};

enum log_format {
	LOG_PLAIN, /* "vcmtsd: message" */
	LOG_TEXT, /* time, level, area, message, fields */
	LOG_JSON, /* the same as one object per line */
	LOG_FORMATS,
};

/* A machine-readable value. The last field has no key. */
struct log_field {
	const char *key; /* lower case and underscores */
	const char *text; /* NULL: the value is `number` */
	uint64_t number;
};

#define LOG_NUMBER(key, value) {key, NULL, (uint64_t)(value)}
#define LOG_STRING(key, value) {key, value, 0}
#define LOG_FIELDS(...) ((const struct log_field[]){__VA_ARGS__, {NULL, NULL, 0}})
#define LOG_NO_FIELDS NULL

/* A place in the code that logs. */
struct log_site {
	enum log_level level;
	const char *area; /* part of the program: one word */
	/* Private to the log: */
	uint64_t since; /* ns: start of the window */
	uint64_t suppressed;
	unsigned count;
	bool listed;
	struct log_site *next; /* sites with a summary to write */
	char last[96]; /* last suppressed message */
};

#define LOG_AT(level_, area_, fields, ...)                                          \
	do {                                                                        \
		static struct log_site log_site = {.level = level_, .area = area_}; \
		log_write(&log_site, fields, __VA_ARGS__);                          \
	} while (0)

#define log_error(area, fields, ...) LOG_AT(LEVEL_ERROR, area, fields, __VA_ARGS__)
#define log_warning(area, fields, ...) LOG_AT(LEVEL_WARNING, area, fields, __VA_ARGS__)
#define log_notice(area, fields, ...) LOG_AT(LEVEL_NOTICE, area, fields, __VA_ARGS__)
#define log_info(area, fields, ...) LOG_AT(LEVEL_INFO, area, fields, __VA_ARGS__)
#define log_debug(area, fields, ...) LOG_AT(LEVEL_DEBUG, area, fields, __VA_ARGS__)

struct log_options {
	enum log_level level; /* minimum severity */
	enum log_format format;
	bool format_given; /* otherwise the journal gets text */
	int fd; /* output: stderr, except in tests */
	uint64_t (*clock)(void); /* ns, monotonic; NULL: the system's */
};

/* Sets the options. Before it, and after log_close(), plain lines from LEVEL_NOTICE go to `stderr`.
 * Call it while no other thread logs. */
void log_open(const struct log_options *options);
bool log_is_open(void);
enum log_format log_format(void);

/* Writes all summaries of suppressed lines and closes the log. Does nothing if it is not open. */
void log_close(void);

/* Writes the summaries of windows that have ended; call it regularly. */
void log_tick(void);

/* Sets the prefix of plain lines, initially "vcmtsd"; `name` must stay valid. */
void log_program(const char *name);

void log_write(struct log_site *site, const struct log_field *fields, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Logs a line of a library, without its newline and without a prefix in the plain format. Its level may
 * differ from the site's. */
void log_foreign(struct log_site *site, enum log_level level, const char *line);

/* Writes the summary of a site that is about to be freed. */
void log_forget(struct log_site *site);

/* Parse the names used by options. Return false for other names. */
bool log_level_parse(const char *name, enum log_level *level);
bool log_format_parse(const char *name, enum log_format *format);
