/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's loop and the traffic of its groups on the same core: generates, processes and proves
 * packets in alternation. Times the worker's steps of changes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hdr_histogram.h>

#include "groups/groups.h"
#include "server/worker.h"

#define LOOP_KINDS 8 /* maximum number of kinds of changes */

#define LOOP_PAUSE_US \
	100 /* a step that takes longer, without preemption by the system, counts as a pause */

enum loop_phase {
	LOOP_IDLE, /* rounds without traffic */
	LOOP_STARTING, /* a run starts with all counts 0 */
	LOOP_RUNNING,
	LOOP_DRAINING, /* sends nothing more; rests when all packets have arrived */
	LOOP_FAILED, /* the traffic cannot restart; a message was printed */
	LOOP_EXIT,
};

/* Durations in ns. */
struct loop_times {
	struct hdr_histogram *ns;
	uint64_t above; /* number of values above LOOP_PAUSE_US */
	uint64_t disturbed; /* number of preempted measurements, not in `ns` */
};

/* Figures of one run. */
struct loop_figures {
	uint64_t cycles; /* of rounds with packets */
	uint64_t stage_cycles; /* of stages with packets */
	struct loop_times steps[LOOP_KINDS]; /* by the kind set at the time */
	struct loop_times rounds; /* of the data plane only */
};

struct loop {
	struct worker *worker;
	struct groups traffic;
	struct traffic_load load; /* of the next run */
	struct loop_figures figures; /* valid at rest */
	double us_per_cycle;
	long switches; /* context switches of the thread so far */
	/* Shared by both threads. */
	enum loop_phase phase __rte_cache_aligned;
	unsigned kind; /* kind of the current changes */
};

/* Allocates the figures. Returns 0 or -1. The caller frees it with loop_free() in either case. */
int loop_create(struct loop *l, struct worker *w);
void loop_free(struct loop *l);

/* For rte_eal_remote_launch(); runs until LOOP_EXIT. */
int loop_run(void *loop);

/* Called by the control thread. */
void loop_phase_set(struct loop *l, enum loop_phase phase);
enum loop_phase loop_phase_of(const struct loop *l);
