/* SPDX-License-Identifier: BSD-3-Clause */
/* A polling thread: it runs its pipelines in turn until it is told to stop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "pipeline/clock.h"
#include "pipeline/pipeline.h"

#define WORKER_NAME 160 /* bytes */
#define WORKER_ROUND_MAX_US 1000

/* Something that another thread wants done between two rounds: called once a round until it says
 * that it is done, so that what takes long can be cut into pieces. */
struct worker_task {
	bool (*step)(void *arg);
	void *arg;
};

struct worker {
	char name[WORKER_NAME]; /* what it runs, for people */
	struct clock clock;
	struct pipeline **pipelines; /* in the order of a round; they are their groups' */
	unsigned pipeline_count;
	unsigned pipeline_room;
	bool stop; /* set by another thread */
	struct worker_task *task; /* likewise; NULL when it is done */
	/* Load, for whoever reads it: rounds of the loop, and cycles of those with work. */
	uint64_t rounds;
	uint64_t busy_rounds;
	uint64_t busy_cycles;
	uint64_t idle_cycles;
	/* Rounds longer than WORKER_ROUND_MAX_US: the system ran something else on this core, or a task
	 * took its time. */
	uint64_t descheduled;
	uint64_t longest; /* of these, TSC cycles */
	uint64_t longest_since; /* of those since worker_longest_take(), which anybody may call */
} __rte_cache_aligned;

/* Its next pipeline; not while it runs. Returns 0, or -1 after a message when memory is short. */
int worker_add(struct worker *w, struct pipeline *p);

/* Frees its list; harmless on a zeroed one. Not while it runs. */
void worker_free(struct worker *w);

/* The thread's function, for rte_eal_remote_launch(). Returns 0 after worker_stop(). */
int worker_run(void *worker);

/* One round of the loop: each pipeline once. Returns the packets that moved. */
unsigned worker_round(struct worker *w);

/* Has a running worker do the task, and waits until it is done. Not from two threads at a time. */
void worker_do(struct worker *w, struct worker_task *task);

/* Another thread's: the longest round since the last call, TSC cycles; 0 where none was too long. */
uint64_t worker_longest_take(struct worker *w);

void worker_stop(struct worker *w);
