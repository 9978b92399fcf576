/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines for operators, on stderr: plain ones for a terminal, text with fields, or JSON (docs/service.md).
 *
 * Any thread may log but a worker in its round: it formats, locks and writes. Each place in the code that logs is
 * limited by itself: LOG_BURST lines in LOG_WINDOW_NS, and then one that says how many more there were. Where nobody
 * reads stderr a line waits for LOG_PATIENCE_MS once, the following ones not at all until it is read again: they are
 * lost, and counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LOG_BURST 20
#define LOG_WINDOW_NS UINT64_C(10000000000)
#define LOG_PATIENCE_MS 50
#define LOG_MESSAGE 1536 /* bytes of a message; what is longer is cut */

/* In the order of syslog's, which begin with 3. */
enum log_level {
	LEVEL_ERROR, /* something does not work */
	LEVEL_WARNING, /* it works, but somebody should look */
	LEVEL_NOTICE, /* what vcmtsd always says */
	LEVEL_INFO, /* what has happened */
	LEVEL_DEBUG, /* steps of it */
	LEVELS,
};

enum log_format {
	LOG_PLAIN, /* "vcmtsd: message" */
	LOG_TEXT, /* time, level, area, message, fields */
	LOG_JSON, /* the same, an object a line */
	LOG_FORMATS,
};

/* Something that a program may look for. The last one has no key. */
struct log_field {
	const char *key; /* lower case and underscores */
	const char *text; /* NULL: it is the number */
	uint64_t number;
};

#define LOG_NUMBER(key, value) {key, NULL, (uint64_t)(value)}
#define LOG_STRING(key, value) {key, value, 0}
#define LOG_FIELDS(...) ((const struct log_field[]){__VA_ARGS__, {NULL, NULL, 0}})
#define LOG_NO_FIELDS NULL

/* A place in the code that logs. */
struct log_site {
	enum log_level level;
	const char *area; /* which part of the program: a word */
	/* The log's own: */
	uint64_t since; /* ns: of the window */
	uint64_t suppressed;
	unsigned count;
	bool listed;
	struct log_site *next; /* of those who have something to say later */
	char last[96]; /* that was suppressed */
};

#define LOG_AT(level_, area_, fields, ...)                                          \
	do {                                                                        \
		static struct log_site log_site = {.level = level_, .area = area_}; \
		log_say(&log_site, fields, __VA_ARGS__);                            \
	} while (0)

#define log_error(area, fields, ...) LOG_AT(LEVEL_ERROR, area, fields, __VA_ARGS__)
#define log_warning(area, fields, ...) LOG_AT(LEVEL_WARNING, area, fields, __VA_ARGS__)
#define log_notice(area, fields, ...) LOG_AT(LEVEL_NOTICE, area, fields, __VA_ARGS__)
#define log_info(area, fields, ...) LOG_AT(LEVEL_INFO, area, fields, __VA_ARGS__)
#define log_debug(area, fields, ...) LOG_AT(LEVEL_DEBUG, area, fields, __VA_ARGS__)

struct log_options {
	enum log_level level; /* and what is worse */
	enum log_format format;
	bool format_given; /* else the journal gets text */
	int fd; /* where lines go: that of stderr, but in tests */
	uint64_t (*clock)(void); /* ns, monotonic; NULL: the system's */
};

/*
 * From now on lines are written so. Before it, and after log_close(), plain lines from LEVEL_NOTICE up go to `stderr`.
 * By one thread, while no other logs.
 */
void log_open(const struct log_options *options);
bool log_is_open(void);
enum log_format log_format(void);

/* Says what was suppressed and not told yet. Harmless where nothing is open. */
void log_close(void);

/* The same of what was suppressed for a whole window: to be called now and then. */
void log_tick(void);

/* What plain lines begin with; it must live on. At first "vcmtsd". */
void log_program(const char *name);

void log_say(struct log_site *site, const struct log_field *fields, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A line of somebody else, without its end: in plain as it is. Of another level than the site's. */
void log_foreign(struct log_site *site, enum log_level level, const char *line);

/* Says what is still to be said of a site that goes. */
void log_forget(struct log_site *site);

/* By the names that options have. Return false where it is none of them. */
bool log_level_parse(const char *name, enum log_level *level);
bool log_format_parse(const char *name, enum log_format *format);
