/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a line of progress on stderr each second, by a separate thread, so that no other work
 * delays it. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "groups/run.h"

struct progress_lines {
	const struct run *run;
	bool downstream, upstream; /* directions to print */
	bool begun;
	bool end; /* set by another thread */
	pthread_t thread;
	uint64_t down, up; /* bytes sent until the last line */
	double at; /* time of the last line, in seconds */
};

/* If the thread cannot be created, prints nothing. The caller must call progress_end() while the
 * run exists. */
void progress_begin(struct progress_lines *p, const struct run *run, bool downstream,
		    bool upstream);

void progress_end(struct progress_lines *p);

#define PROGRESS_LINE 512 /* bytes */

/* Writes the line at `elapsed` seconds, `seconds` after the last one: rates sent since then, and counts so far. Lists
 * faults that occurred, as far as they fit in 79 columns. */
void progress_line(struct progress_lines *p, double elapsed, double seconds,
		   char text[PROGRESS_LINE]);
