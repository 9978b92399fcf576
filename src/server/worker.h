/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A polling thread: it runs its pipelines in turn until it is told to stop. Another thread, the control
 * thread, changes what it runs: between two rounds, by tasks, while it runs, and at once while it does not.
 */
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
#define WORKER_MOST 128 /* that a server may have, a bit each in struct worker_peers */

/* Something that another thread wants done between two rounds: called once a round until it says
 * that it is done, so that what takes long can be cut into pieces. */
struct worker_task {
	bool (*step)(void *arg);
	void *arg;
	/* Of a chain, see worker_chain_begin(): */
	struct worker *worker;
	struct worker_task *next;
	bool *done;
};

/* Tasks of each kind are one behind the other. In a round there is a step of one of them, and WORKER_NOW comes
 * first. */
enum worker_urgency {
	WORKER_NOW,
	WORKER_BEHIND, /* somebody may wait for it, but not before going on */
	WORKER_URGENCIES,
};

/* When in a round a pipeline has its turn. */
enum worker_turn {
	WORKER_FIRST, /* what receives for groups that share a port */
	WORKER_GROUPS,
	WORKER_LAST, /* what sends for them */
};

struct worker_entry {
	struct pipeline *pipeline; /* its owner's */
	enum worker_turn turn;
};

/* Workers by their numbers. Another thread writes a word at a time. */
struct worker_peers {
	uint64_t bits[WORKER_MOST / 64];
};

/* A queue of a port that it asks for packets. */
struct worker_source {
	uint16_t port, queue;
	bool wakes; /* its packets wake, by the set of the sleeper */
};

struct worker {
	char name[WORKER_NAME]; /* what it runs, for people */
	struct clock clock;
	struct worker_entry *entries; /* in the order of a round */
	unsigned entry_count;
	unsigned entry_room;
	struct rte_rcu_qsbr
		*quiet; /* where it says once a round that it holds nothing; may be NULL */
	unsigned quiet_id; /* its number there */
	bool started; /* the control thread's: see worker_start() */
	bool stop; /* set by another thread */
	struct worker_task *tasks[WORKER_URGENCIES]; /* likewise; NULL when it is done */
	struct idle idle; /* what it does while nothing comes; idle.ticks are part of idle_cycles */
	/* Share of a busy round's cycles to waste behind it, in 1/256: 0 none, 256 is half the speed. It stands for a lower
	 * frequency where there is none to be had. Set by another thread. */
	uint32_t slowdown;
	bool wakes; /* whom it hands packets to may sleep */
	struct worker *all; /* of the server; what follows is by their numbers */
	struct worker_peers hands_to, handed_by; /* over rings */
	struct sleeper sleeper;
	struct worker_source *sources; /* where pauses make use of them */
	unsigned source_count;
	bool woken; /* by all that may come */
	bool monitored; /* there is one source alone, and its next descriptor can be waited for */
	/* Load, for whoever reads it: rounds of the loop, and cycles of those with work. */
	uint64_t rounds;
	uint64_t busy_rounds;
	uint64_t busy_cycles;
	uint64_t idle_cycles;
	/* Rounds longer than WORKER_ROUND_MAX_US: the system ran something else on this core, or a task
	 * took its time. */
	uint64_t descheduled;
	struct gaps gaps; /* the longest of these; read when the worker has stopped */
	uint64_t longest; /* of these, TSC cycles */
	uint64_t longest_since; /* of those since worker_longest_take(), which anybody may call */
	uint64_t longest_watch; /* of those since worker_longest_watch(), likewise */
} __rte_cache_aligned;

/* Makes room for that many pipelines more. Returns 0, or -1 after a message when memory is short. */
int worker_reserve(struct worker *w, unsigned more);

/* One more pipeline, behind those of its turn. There must be room for it. */
void worker_insert(struct worker *w, struct pipeline *p, enum worker_turn turn);

/* Both, of a pipeline of a group. */
int worker_add(struct worker *w, struct pipeline *p);

/* From when it returns on, the worker does not run the pipeline. Harmless where it never did. */
void worker_remove(struct worker *w, const struct pipeline *p);

/* Frees its list; harmless on a zeroed one. Not while it runs. */
void worker_free(struct worker *w);

/* From now on others wait for it: to be called before its thread begins. */
void worker_start(struct worker *w);

/* The thread's function, for rte_eal_remote_launch(). Returns 0 after worker_stop(). */
int worker_run(void *worker);

/* Has it pause in this way from the next round on, by its thread where it runs. Returns 0, or -1 after a message where it
 * cannot sleep: then nothing is changed. */
int worker_idle(struct worker *w, const struct idle_config *config);

/* What it asks for packets, from the next round on: a copy of the list, which is all of it where it is `known`. Where
 * memory is short it is not known. */
void worker_sources(struct worker *w, const struct worker_source *list, unsigned count, bool known);

/* When the first of its pipelines has something to do although nothing comes: ns of its clock, 0: now, UINT64_MAX: never.
 * By its thread. */
uint64_t worker_due(const struct worker *w);

/* One round of the loop: each pipeline once. Returns the packets that moved. */
unsigned worker_round(struct worker *w);

/* What stands between two rounds, for who has a loop of his own: a step of a task, and the word that it holds
 * nothing. The loop is within the first and the last of these. */
void worker_online(const struct worker *w);
bool worker_between(struct worker *w); /* whether there was a step */
void worker_offline(const struct worker *w);

/* Has a running worker do the task, and waits until it is done; where it does not run, the caller does it.
 * Not from two threads at a time. */
void worker_do(struct worker *w, struct worker_task *task);

/* The same in two parts, so that several workers are at it at a time. `task` lives until the wait is over. */
void worker_begin(struct worker *w, struct worker_task *task);
void worker_wait(const struct worker *w);

/*
 * Has the workers do tasks one after the other: who is done with one begins the next, so that nobody is waited for in
 * between. They are linked from `first` on by `next`, and the last sets `*done`, which is false before; until then
 * all of them live, and are the workers'. One chain of a kind at a time. Where the workers do not run, the caller
 * does it all.
 */
void worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done);
bool worker_chain_is_done(const bool *done);
void worker_chain_wait(const bool *done);

/* Sleeps, so that the thread that waits for a worker leaves the core to it: `*us` at first 0, and longer
 * from call to call. */
void worker_nap(unsigned *us);

/* Another thread's: the longest round since the last call, TSC cycles; 0 where none was too long. */
uint64_t worker_longest_take(struct worker *w);

/* The same, for the control thread, which has times of its own. */
uint64_t worker_longest_watch(struct worker *w);

void worker_stop(struct worker *w);

/* Its thread has ended: nobody waits for it any more. */
void worker_stopped(struct worker *w);
