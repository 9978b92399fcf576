/* SPDX-License-Identifier: BSD-3-Clause */
/* Common parts of benchmark programs: numeric options, progress, signals, and reports. */
#pragma once

#include <argp.h>
#include <signal.h>
#include <stdbool.h>

#include <jansson.h>

#include "platform/host.h"

#define EXIT_STOPPED 130 /* by a signal; results until then are stored */

/* The option for progress in machine-readable form, for the tables of argp. */
#define PROGRAM_PROGRESS_KEY 'P'
#define PROGRAM_PROGRESS_OPTION                                            \
	{"progress",                                                       \
	 PROGRAM_PROGRESS_KEY,                                             \
	 NULL,                                                             \
	 0,                                                                \
	 "print progress on stderr as lines \"progress DONE TOTAL TEXT\"", \
	 0}

/* Parses a number from `low` to `high`, or ends the program by an error of argp. */
unsigned program_number(const char *text, unsigned low, unsigned high, struct argp_state *state);

/* Switches progress to machine-readable form. */
void program_report_progress(void);

/* Prints the next step on stderr; in machine-readable form also that `done` of `total` runs are done. */
void program_progress(unsigned done, unsigned total, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Makes the next SIGINT or SIGTERM set program_stopped() instead of ending the program; a second
 * one ends it. */
void program_catch_signals(void);
bool program_stopped(void);

/* The flag of program_stopped(), for callers that wait for other events too. */
const volatile sig_atomic_t *program_stop_flag(void);

/* Builds a report of `results`, whose ownership it takes, and of the host (docs/results.md). */
json_t *program_report(json_t *results, const struct host *host, bool complete);

/* Writes the report to `path` (-: stdout) and frees it. `ret` is -1 if the measurement ended early.
 * Returns the exit status. */
int program_end(json_t *root, const char *path, int ret);
