/* SPDX-License-Identifier: BSD-3-Clause */
/* A line each second of a run on stderr, written by a thread of its own, so that nothing else delays it. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "groups/run.h"

struct progress_lines {
	const struct run *run;
	bool downstream, upstream; /* directions that are shown */
	bool begun;
	bool end; /* set by another thread */
	pthread_t thread;
	uint64_t down, up; /* bytes sent up to the last line */
	double at; /* seconds at which that was written */
};

/* Where there can be no thread, there are no lines. To be ended by progress_end(), while the run is there. */
void progress_begin(struct progress_lines *p, const struct run *run, bool downstream,
		    bool upstream);

void progress_end(struct progress_lines *p);
