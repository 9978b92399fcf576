/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stage contract, and the loop that runs a list of stages.
 *
 * A stage takes a burst, keeps the packets that go on in order at the front of the array, and
 * returns their number. It passes every other packet to drop() with a reason, or keeps it pending
 * (queue, crypto provider, open DEPI frame) and returns it from a later call. A stage that can
 * return packets without input sets `polls`. The last stage returns the number of packets that have
 * left, for the accounts; their pointers are no longer valid.
 *
 * A burst has at most PIPELINE_BURST packets, and a stage returns no more, even with pending packets
 * of earlier calls. The exceptions are `depi` and `messages` downstream, `decrypt_collect` and
 * `extract_joined` upstream: they return up to PIPELINE_CAPACITY, the size of the array. All later
 * stages of their list accept as many.
 *
 * Stages that turn one packet into many, or many into one, have a queue between them, which the
 * list names. A stage with an `output_queue` returns nothing. The loop takes a burst out of the
 * `input_queue` for its stage in each run; the stage before must return nothing. A stage that
 * `pulls_input` dequeues itself, after its input from the stage before, as only it knows how many
 * packets it can accept.
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

/* Packets of a burst, and the size of its array, for the few stages that return more. */
#define PIPELINE_BURST 64
#define PIPELINE_CAPACITY 512

#define PIPELINE_MAX_STAGES 16
#define PIPELINE_MAX_QUEUES 8 /* of a list, without number 0 */

typedef uint16_t (*stage_fn)(void *ctx, struct rte_mbuf **pkts, uint16_t n);

struct stage {
	const char *name; /* key in counters, telemetry, benchmarks and the drawing */
	const char *about; /* one line for the documentation */
	const char *dpdk; /* the DPDK library that does the work */
	stage_fn run;
	bool polls; /* also called with an empty burst */
	/* numbers of queues; 0: none, the burst goes from stage to stage */
	uint8_t input_queue;
	bool pulls_input; /* dequeues from `input_queue` itself; must poll */
	uint8_t output_queue;
	uint8_t other_queues; /* STAGE_TO(..) of other queues into which it puts packets */
	/* Offset of the stage's struct: in the list's context for run(), in the struct upstream or downstream for the
	 * other functions. Downstream 0. */
	size_t context;
	/*
	 * open() creates the resources of the stage, close() frees them. Downstream, `ctx` is the
	 * struct downstream, but that of run() is the struct ds_upper or ds_lower in it. Upstream, `ctx`
	 * is the stage's own struct for all functions; open() finds it zeroed, except for the members that
	 * setup.c sets for all stages. `resources` is a struct ds_resources or us_resources. open()
	 * returns 0, or -1 after an error message.
	 */
	int (*open)(void *ctx, const struct service_group *sg, const void *resources);
	void (*close)(void *ctx); /* also called if open() failed or was not called */
	uint64_t (*pending)(const void *ctx, enum unit unit); /* pending units; NULL: never any */
	void (*stop)(void *ctx); /* drops all pending packets; no worker runs */
	/* Its drop reasons and counters: STAGE_DROPS(..), STAGE_COUNTERS(..); NULL: none. */
	const enum drop_reason *drops;
	const enum counter *counters;
};

/* The `ctx` of a stage's function. `of`: for run() the list's context, for the others the direction. */
static inline void *stage_context(const struct stage *s, const void *of) {
	return (char *)(uintptr_t)of + s->context;
}

#define STAGE_TO(queue) (1u << (queue))
#define STAGE_DROPS(...) ((const enum drop_reason[]){__VA_ARGS__, DROP_NONE})
#define STAGE_COUNTERS(...) ((const enum counter[]){__VA_ARGS__, COUNTERS})

/* A queue between stages. */
struct stage_queue {
	const char *name;
	const char *about; /* its contents, for the documentation */
	bool outside; /* a ring or port; the others are queues of the pipeline */
};

/*
 * When a list next has work without new input: ns of its worker's clock; 0 or the past: now,
 * UINT64_MAX: never.
 *
 * The time may be too early, but never too late. The worker of the list calls it between two runs.
 */
typedef uint64_t (*due_fn)(const void *ctx);

/* The stages of a pipeline in order. */
struct stage_list {
	const char *name;
	const struct stage *stages;
	unsigned count;
	const struct stage_queue *queues; /* by number; number 0 is an unused element; NULL: none */
	unsigned queue_count; /* including number 0 */
	due_fn due; /* NULL: it may have work at any time */
};

/* Opens all stages of a direction's lists in order. Returns 0, or -1 after an error message. In
 * either case, stages_close() closes them in reverse order. */
int stages_open(const struct stage_list *lists, unsigned count, void *direction,
		const struct service_group *sg, const void *resources);
void stages_close(const struct stage_list *lists, unsigned count, void *direction);

/* stages_pending() returns the pending units of all stages; stages_stop() drops them, from the
 * first stage to the last. */
uint64_t stages_pending(const struct stage_list *lists, unsigned count, const void *direction,
			enum unit unit);
void stages_stop(const struct stage_list *lists, unsigned count, void *direction);

/* The cost of a stage: the cycles of calls that handled packets, and these packets. Packets that
 * a stage gives to its queue count as output. */
struct stage_account {
	uint64_t cycles; /* TSC */
	/* per call the larger of packets in and out; those that a stage pulls from its queue do not count as in */
	uint64_t packets;
	uint64_t calls;
};

/* The packets that a direction counted while cycles were measured: the divisor of its cycles per packet. */
struct account_span {
	uint64_t from; /* the count when measuring was switched on */
	uint64_t to; /* the count when it was switched off; not valid while it is on */
};

struct pipeline {
	const struct stage *stages;
	unsigned count;
	void *ctx;
	bool accounting; /* measure cycles; counters always count */
	const struct tap_list *tap; /* NULL: no capture */
	uint64_t idle_cycles; /* of calls that handled no packet */
	struct stage_account accounts[PIPELINE_MAX_STAGES];
	struct queue queues[1 + PIPELINE_MAX_QUEUES]; /* by number; number 0 stays empty */
	due_fn due; /* that of the list */
};

/* Starts with the stages of the list and with accounting. `ctx` is the list's context, to
 * which `context` of each stage is added. */
void pipeline_init(struct pipeline *p, const struct stage_list *list, void *ctx);

/* Switches the measurement of cycles, between two runs. Switching it on clears the accounts. */
void pipeline_account(struct pipeline *p, bool on);

/* Records that measuring changes from `was` to `on` at `counted` packets. */
void account_span_switch(struct account_span *span, bool was, bool on, uint64_t counted);

/* The packets counted while measuring was on. `counted` is the present count, `on` whether
 * measuring is on now. */
uint64_t account_span_packets(const struct account_span *span, bool on, uint64_t counted);

/* For a list without work of its own: returns UINT64_MAX. */
uint64_t pipeline_due_never(const void *ctx);

/* When the pipeline next has work without new input. */
static inline uint64_t pipeline_due(const struct pipeline *p) {
	return p->due != NULL ? p->due(p->ctx) : 0;
}

/* Shows a packet to the tap as output of the stage with that `output_queue`, if `t` captures
 * there. */
void pipeline_tap_enqueued(const struct pipeline *p, const struct tap_list *t, unsigned queue,
			   struct rte_mbuf *m);

/* Adds a packet to the `output_queue` of a stage. A capture sees it as output of that stage, also if the stage
 * `expire` adds it. */
static inline void pipeline_enqueue(struct pipeline *p, unsigned queue, struct rte_mbuf *m) {
	const struct tap_list *t = __atomic_load_n(&p->tap, __ATOMIC_ACQUIRE);

	if (unlikely(t != NULL))
		pipeline_tap_enqueued(p, t, queue, m);
	queue_add(&p->queues[queue], m);
}

/* Runs the list once. Returns the sum over stages of the larger of packets in and out; 0: there was no work. */
unsigned pipeline_run(struct pipeline *p);
