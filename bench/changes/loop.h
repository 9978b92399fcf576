/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker's loop with the traffic around its groups on the same core: packets are made, carried and proven in
 * turn, as time goes on. What the worker does for changes is timed, step by step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hdr_histogram.h>

#include "groups/groups.h"
#include "server/worker.h"

#define LOOP_KINDS 8 /* kinds of changes that are told apart */

#define LOOP_PAUSE_US \
	100 /* what a worker does longer without a pause of the system is a pause itself */

enum loop_phase {
	LOOP_RESTS, /* rounds without traffic */
	LOOP_BEGINS, /* a run: its counts begin with 0 */
	LOOP_RUNS,
	LOOP_ENDS, /* nothing more is made; at rest when all has come */
	LOOP_FAILED, /* the traffic cannot begin anew; a message was given */
	LOOP_QUITS,
};

/* Times of one thing, ns. */
struct loop_times {
	struct hdr_histogram *ns;
	uint64_t above; /* of these above LOOP_PAUSE_US */
	uint64_t disturbed; /* in which the system ran something else here: not in `ns` */
};

/* Of one run. */
struct loop_figures {
	uint64_t cycles; /* of rounds that moved packets */
	uint64_t stage_cycles; /* of stages that moved packets */
	struct loop_times steps[LOOP_KINDS]; /* by the kind that was set */
	struct loop_times rounds; /* of the data plane alone */
};

struct loop {
	struct worker *worker;
	struct groups traffic;
	struct traffic_load load; /* of the next run */
	struct loop_figures figures; /* to be read at rest */
	double us_per_cycle;
	long switches; /* of the thread, against its will, up to now */
	/* What both threads touch. */
	enum loop_phase phase __rte_cache_aligned;
	unsigned kind; /* of the changes under way */
};

/* Memory for its figures. Returns 0 or -1. To be freed by loop_free() in either case. */
int loop_create(struct loop *l, struct worker *w);
void loop_free(struct loop *l);

/* For rte_eal_remote_launch(): until LOOP_QUITS. */
int loop_run(void *loop);

/* The control thread's. */
void loop_phase_set(struct loop *l, enum loop_phase phase);
enum loop_phase loop_phase_of(const struct loop *l);
