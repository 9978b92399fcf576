/* SPDX-License-Identifier: BSD-3-Clause */
/* A polling thread that runs its pipelines in rounds until it is stopped. The control thread
 * changes what it runs: by tasks between two rounds while it runs, else directly. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_rcu_qsbr.h>

#include "pipeline/clock.h"
#include "pipeline/gaps.h"
#include "pipeline/pipeline.h"
#include "power/idle/idle.h"
#include "power/idle/sleep.h"

#define WORKER_NAME 160 /* bytes */
#define WORKER_ROUND_MAX_US 1000
#define WORKER_MAX 128 /* per server, one bit each in struct worker_peers */

/* Work that another thread wants done between two rounds. The worker calls step() once per round
 * until it returns true, so that long work can be split. */
struct worker_task {
	bool (*step)(void *arg);
	void *arg;
	/* Of a chain, see worker_chain_begin(): */
	struct worker *worker;
	struct worker_task *next;
	bool *done;
};

/* Tasks of one urgency run one after the other. A round runs one step of one task, WORKER_NOW
 * first. */
enum worker_urgency {
	WORKER_NOW,
	WORKER_LATER, /* for tasks whose end no thread waits for at once */
	WORKER_URGENCIES,
};

/* Position of a pipeline in the round. */
enum worker_position {
	WORKER_FIRST, /* receives for groups that share a port */
	WORKER_GROUPS,
	WORKER_LAST, /* sends for them */
};

struct worker_entry {
	struct pipeline *pipeline; /* owned by its creator */
	enum worker_position position;
};

/* A set of workers by number. Other threads write one word at a time. */
struct worker_peers {
	uint64_t bits[WORKER_MAX / 64];
};

/* A port queue that the worker polls. */
struct worker_source {
	uint16_t port, queue;
	bool wakes; /* its packets wake the worker, by the sleeper's epoll set */
};

/* Packets that moved in a round, counted at each stage, from which on the next round does not wait:
 * some 40 packets from port to port. */
#define WORKER_FULL_ROUND 512

struct worker {
	char name[WORKER_NAME]; /* what it runs, for people */
	struct clock clock;
	struct worker_entry *entries; /* in the order of a round */
	unsigned entry_count;
	unsigned entry_capacity;
	struct rte_rcu_qsbr
		*quiet; /* QSBR variable for its quiescent state, once per round; may be NULL */
	unsigned quiet_id; /* its thread ID there */
	bool started; /* for the control thread: see worker_start() */
	bool stop; /* set by another thread */
	/* set by another thread; NULL when the task is done */
	struct worker_task *tasks[WORKER_URGENCIES];
	struct idle idle; /* how it idles; idle.ticks are part of idle_cycles */
	/*
	 * Cycles to waste after a busy round, as a share of the round's cycles in 1/256: 0 none,
	 * 256 halves the speed. Emulates a lower frequency where the CPU has none. Set by another
	 * thread.
	 */
	uint32_t slowdown;
	bool wakes; /* workers that it hands packets to may sleep */
	struct worker *all; /* workers of the server; the next sets have their numbers */
	struct worker_peers sends_to, receives_from; /* over rings */
	struct sleeper sleeper;
	struct worker_source *sources; /* if idling uses them */
	unsigned source_count;
	bool woken; /* every source wakes it */
	bool monitored; /* it has one source, whose next descriptor the CPU can monitor */
	/* Load, for any thread: rounds of the loop, and cycles of rounds with and without work. */
	uint64_t rounds;
	uint64_t busy_rounds;
	uint64_t busy_cycles;
	uint64_t idle_cycles;
	/* Rounds longer than WORKER_ROUND_MAX_US: the kernel ran something else on this core, or a
	 * task took long. */
	uint64_t descheduled;
	struct gaps gaps; /* the longest of these; read it when the worker has stopped */
	uint64_t longest; /* of these, TSC cycles */
	uint64_t longest_since; /* since worker_longest_read(), which any thread may call */
	uint64_t
		longest_control; /* since worker_longest_read_control(), which any thread may call */
} __rte_cache_aligned;

/* Reserves entries for `more` pipelines. Returns 0, or -1 and logs the reason if memory is
 * short. */
int worker_reserve(struct worker *w, unsigned more);

/* Adds a pipeline behind those of the same position. An entry must be free. */
void worker_insert(struct worker *w, struct pipeline *p, enum worker_position position);

/* Both, for a pipeline of a group. */
int worker_add(struct worker *w, struct pipeline *p);

/* Removes a pipeline: when it returns, the worker does not run it. No effect if it never did. */
void worker_remove(struct worker *w, const struct pipeline *p);

/* Frees its lists. Accepts a zeroed struct. The worker must not run. */
void worker_free(struct worker *w);

/* Marks the worker as started: from now on, worker_do() waits for its thread. Call it before that
 * begins. */
void worker_start(struct worker *w);

/* The thread's function, for rte_eal_remote_launch(). Returns 0 after worker_stop(). */
int worker_run(void *worker);

/* Sets how it idles from the next round on, by its thread if it runs. Returns 0, or -1 and logs the
 * reason if it cannot sleep; then nothing has changed. */
int worker_idle(struct worker *w, const struct idle_config *config);

/* Sets the queues that it polls, from the next round on. Copies the list, which is complete if
 * `known`. If memory is short, the list is unknown. */
void worker_sources(struct worker *w, const struct worker_source *list, unsigned count, bool known);

/* When the first of its pipelines has work without new packets: ns of its clock, 0: now,
 * UINT64_MAX: never. For its own thread. */
uint64_t worker_due(const struct worker *w);

/* Runs each pipeline once. Returns the number of packets that moved. */
unsigned worker_round(struct worker *w);

/* For callers that run their own loop: a step of a task and the quiescent state between two rounds.
 * The loop runs between worker_online() and worker_offline(). */
void worker_online(const struct worker *w);
bool worker_quiescent(struct worker *w); /* returns whether a step ran */
void worker_offline(const struct worker *w);

/* Has a running worker run the task and waits until it is done; else the caller runs it. One thread
 * at a time. */
void worker_do(struct worker *w, struct worker_task *task);

/* The same in two parts, so that several workers run tasks at once. `task` must live until the wait
 * is over. */
void worker_begin(struct worker *w, struct worker_task *task);
void worker_wait(const struct worker *w);

/*
 * Has workers run tasks one after the other: each worker starts the next task, so that no thread
 * waits in between. `next` links the tasks from `first` on; the last one sets `*done`, which is
 * false before. Until then the workers own all of them. One chain per urgency at a time. If the
 * workers do not run, the caller runs all tasks.
 */
void worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done);
bool worker_chain_is_done(const bool *done);
void worker_chain_wait(const bool *done);

/* Sleeps, so that a thread that waits for a worker leaves it the core. `*us` is 0 at first and
 * grows from call to call. */
void worker_nap(unsigned *us);

/* For another thread: the longest round since the last call, TSC cycles; 0: none was too long. */
uint64_t worker_longest_read(struct worker *w);

/* The same for the control thread, with intervals of its own. */
uint64_t worker_longest_read_control(struct worker *w);

void worker_stop(struct worker *w);

/* Marks the worker as stopped, after its thread has ended. */
void worker_stopped(struct worker *w);
