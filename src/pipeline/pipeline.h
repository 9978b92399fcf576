/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stage contract and the one loop that runs a list of stages.
 *
 * A stage takes a burst, keeps the survivors in order at the front of the same array and returns
 * how many they are. A packet that is not kept was given to drop() with a named reason, or is held
 * by the stage (queue, crypto provider, open DEPI frame) and comes out of a later call. A stage that
 * can put out packets without taking any in says so by `polls`. What the last one returns are packets that
 * have gone, for the accounts alone.
 *
 * A burst has at most PIPELINE_BURST packets, and a stage puts out no more in a call, with those that it is
 * given. Only `depi` and `messages` downstream, `decrypt_collect` and `extract_joined` upstream put out more, for which
 * the array has room up to PIPELINE_CAPACITY: who stands behind them takes as many.
 *
 * Where one packet becomes many, or many become one, a burst is not enough: such stages have a queue
 * between them, which the list names. A stage that `gives` to a queue adds to it and returns nothing.
 * What stands in the queue of `from` is handed out by the loop, a burst in each run of the list; a
 * stage that `pulls`, which cannot say how many it has room for, takes from it by itself, behind what
 * it is given by the stage above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pipeline/counters.h"
#include "pipeline/queue.h"
#include "pipeline/tap.h"

struct service_group;

/* Packets of a burst, and room in it for the few stages that put out more. */
#define PIPELINE_BURST 64
#define PIPELINE_CAPACITY 512

#define PIPELINE_MAX_STAGES 16
#define PIPELINE_MAX_QUEUES 8 /* of a list, number 0 not counted */

typedef uint16_t (*stage_fn)(void *ctx, struct rte_mbuf **pkts, uint16_t n);

struct stage {
	const char *name; /* key in counters, telemetry, benchmarks and the picture */
	const char *about; /* what it does, in one line */
	const char *dpdk; /* the library that does the work */
	stage_fn run;
	bool polls; /* is called with an empty burst too */
	/* numbers of queues; 0: none, the burst goes from stage to stage */
	uint8_t from;
	bool pulls; /* takes from it by itself; must poll */
	uint8_t gives;
	uint8_t also; /* STAGE_TO(..) of queues into which it puts what does not go that way */
	size_t own; /* offset, in what the list and its direction are given: what the stage works with */
	/* What the stage keeps of its own. `own` is that offset in a struct downstream or upstream, zeroed but for what
	 * its setup.c fills in for all stages, and `resources` what that is created from. */
	int (*open)(void *own, const struct service_group *sg, const void *resources);
	void (*close)(void *own); /* also where open() failed, or was not called */
	uint64_t (*held)(const void *own, enum unit unit); /* NULL: holds nothing */
	void (*stop)(void *own); /* ends all that it holds; no worker is running */
	/* What it counts: STAGE_DROPS(..) and STAGE_COUNTERS(..); NULL: nothing. */
	const enum drop_reason *drops;
	const enum counter *counters;
};

/* What the stage works with. */
static inline void *stage_own(const struct stage *s, const void *of) {
	return (char *)(uintptr_t)of + s->own;
}

#define STAGE_TO(queue) (1u << (queue))
#define STAGE_DROPS(...) ((const enum drop_reason[]){__VA_ARGS__, DROP_NONE})
#define STAGE_COUNTERS(...) ((const enum counter[]){__VA_ARGS__, COUNTERS})

/* What stands between stages. */
struct stage_queue {
	const char *name;
	const char *about; /* what is in it */
	bool outside; /* a ring or port; the others are queues of the pipeline */
};

/* When a list next has something to do although nothing comes: ns of its worker's clock; 0 or the past: now, UINT64_MAX:
 * never. Perhaps too early, never too late. By the worker that runs it, between two runs. */
typedef uint64_t (*due_fn)(const void *ctx);

/* A table that is read from top to bottom. */
struct stage_list {
	const char *name;
	const struct stage *stages;
	unsigned count;
	const struct stage_queue *queues; /* by number, the first has 1; NULL: there are none */
	unsigned queue_count; /* with number 0 */
	due_fn due; /* NULL: it may have something to do at any time */
};

/*
 * Opens all stages of a direction's lists, from the first to the last. Returns 0, or -1 after a message; then, as
 * otherwise, stages_close() closes them from the last to the first.
 */
int stages_open(const struct stage_list *lists, unsigned count, void *direction,
		const struct service_group *sg, const void *resources);
void stages_close(const struct stage_list *lists, unsigned count, void *direction);

/* What all stages hold of a unit, and the end of it, from the first stage to the last. */
uint64_t stages_held(const struct stage_list *lists, unsigned count, const void *direction,
		     enum unit unit);
void stages_stop(const struct stage_list *lists, unsigned count, void *direction);

/* What a stage has cost: cycles of calls that handled packets, and those packets. What it gives to its
 * queue counts as put out. */
struct stage_account {
	uint64_t cycles; /* TSC */
	uint64_t packets; /* the larger of packets in and packets out, summed over calls */
	uint64_t calls;
};

/* The packets of a direction over which the cycles of its stages go: those that it counted meanwhile. */
struct account_span {
	uint64_t from; /* what it had counted when cycles were switched on */
	uint64_t to; /* and off, where they are */
};

struct pipeline {
	const struct stage *stages;
	unsigned count;
	void *ctx;
	bool accounting; /* cycles are measured; counters are always kept */
	const struct tap_list *tap; /* NULL: nobody looks on */
	uint64_t idle_cycles; /* of calls that handled nothing */
	struct stage_account accounts[PIPELINE_MAX_STAGES];
	struct queue queues[1 + PIPELINE_MAX_QUEUES]; /* by number; the first stays empty */
	due_fn due; /* the list's */
};

/* Begins with the list's stages, which get `ctx` or their own part of it, and with accounting. */
void pipeline_init(struct pipeline *p, const struct stage_list *list, void *ctx);

/* Whether cycles are measured from now on; between two runs. What was measured before is forgotten where they are
 * switched on. */
void pipeline_account(struct pipeline *p, bool on);

/* `counted` packets there are when cycles are switched from `was` to `on`. */
void account_span_switch(struct account_span *span, bool was, bool on, uint64_t counted);

/* How many there are, where `counted` is what there is now and cycles are measured or not. */
uint64_t account_span_packets(const struct account_span *span, bool on, uint64_t counted);

/* Of a list all of whose work comes from outside: UINT64_MAX. */
uint64_t pipeline_due_never(const void *ctx);

/* When the pipeline next has something to do although nothing comes, as its list says. */
static inline uint64_t pipeline_due(const struct pipeline *p) {
	return p->due != NULL ? p->due(p->ctx) : 0;
}

/* Shows a packet at the end of the row that gives to the queue, where `t` looks at it. */
void pipeline_show_given(const struct pipeline *p, const struct tap_list *t, unsigned queue,
			 struct rte_mbuf *m);

/* Adds a packet to a queue to which a row of the list `gives`. The row `expire` does so, too; who looks on sees it come out of the row that gives. */
static inline void pipeline_give(struct pipeline *p, unsigned queue, struct rte_mbuf *m) {
	const struct tap_list *t = __atomic_load_n(&p->tap, __ATOMIC_ACQUIRE);

	if (unlikely(t != NULL))
		pipeline_show_given(p, t, queue, m);
	queue_add(&p->queues[queue], m);
}

/* Runs the list once, from its first stage to its last. Returns the packets that went into or came
 * out of any stage, so that 0 means that there was nothing to do. */
unsigned pipeline_run(struct pipeline *p);
