/* SPDX-License-Identifier: BSD-3-Clause */
/* What both benchmarks do as programs: numbers among their options, progress, being stopped, and what
 * they store. */
#pragma once

#include <argp.h>
#include <signal.h>
#include <stdbool.h>

#include <jansson.h>

#include "platform/host.h"

#define EXIT_STOPPED 130 /* by a signal; what was measured until then is stored */

/* The option that has program_progress() speak to a program, for the tables of argp. */
#define PROGRAM_PROGRESS_KEY 'P'
#define PROGRAM_PROGRESS_OPTION                                                \
	{"progress",                                                           \
	 PROGRAM_PROGRESS_KEY,                                                 \
	 NULL,                                                                 \
	 0,                                                                    \
	 "tell how far it is by lines \"progress DONE TOTAL TEXT\" on stderr", \
	 0}

/* The number in `text`, or an error of argp's where it is none from `low` to `high`. */
unsigned program_number(const char *text, unsigned low, unsigned high, struct argp_state *state);

/* From now on progress is for a program to read, not for people. */
void program_tells_progress(void);

/* Says on stderr that `done` of `total` runs are done, and what comes next. */
void program_progress(unsigned done, unsigned total, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The next SIGINT or SIGTERM does not end the program but is asked for by program_stopped(); a second
 * one ends it. */
void program_catch_signals(void);
bool program_stopped(void);

/* What program_stopped() tells, for who waits for something else too. */
const volatile sig_atomic_t *program_stop_flag(void);

/* `results`, which it takes over, and what they were measured on (docs/results.md). */
json_t *program_report(json_t *results, const struct host *host, bool complete);

/* Writes what was measured to `path`, - for stdout, and frees it. `ret` is -1 where measuring ended early. Returns the
 * exit status. */
int program_end(json_t *root, const char *path, int ret);
