/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_branch_prediction.h>

#include "platform/log/log.h"

#define NAP_FIRST_US 20
#define NAP_MAX_US 500
#define FIRST_ENTRIES 8u /* pipelines; a group has five */

/* A change of the worker's list between two rounds. */
struct list_change {
	struct worker *worker;
	struct worker_entry *array; /* a larger array; NULL: none */
	unsigned array_size;
	struct worker_entry insert; /* without a pipeline: none */
	const struct pipeline *remove; /* NULL: none */
};

static void entries_move(struct list_change *c) {
	struct worker *w = c->worker;
	struct worker_entry *before = w->entries;

	if (w->entry_count > 0)
		memcpy(c->array, before, w->entry_count * sizeof(*before));
	w->entries = c->array;
	w->entry_capacity = c->array_size;
	c->array = before;
}

static void entry_insert(struct worker *w, const struct worker_entry *e) {
	unsigned at = w->entry_count++;

	for (; at > 0 && w->entries[at - 1].position > e->position; at--)
		w->entries[at] = w->entries[at - 1];
	w->entries[at] = *e;
}

static void entry_remove(struct worker *w, const struct pipeline *p) {
	unsigned kept = 0;

	for (unsigned i = 0; i < w->entry_count; i++) {
		if (w->entries[i].pipeline != p)
			w->entries[kept++] = w->entries[i];
	}
	w->entry_count = kept;
}

static bool list_change_step(void *arg) {
	struct list_change *c = arg;

	if (c->array != NULL)
		entries_move(c);
	if (c->insert.pipeline != NULL)
		entry_insert(c->worker, &c->insert);
	if (c->remove != NULL)
		entry_remove(c->worker, c->remove);
	return true;
}

static void list_change_do(struct list_change *c) {
	struct worker_task task = {list_change_step, c};

	worker_do(c->worker, &task);
	free(c->array); /* the array that it had before */
}

int worker_reserve(struct worker *w, unsigned more) {
	struct list_change c = {.worker = w};

	if (w->entry_count + more <= w->entry_capacity)
		return 0;
	c.array_size =
		RTE_MAX(RTE_MAX(2 * w->entry_capacity, FIRST_ENTRIES), w->entry_count + more);
	c.array = calloc(c.array_size, sizeof(*c.array));
	if (c.array == NULL) {
		log_error("memory", LOG_NO_FIELDS, "worker %s: no memory for %u pipelines", w->name,
			  c.array_size);
		return -1;
	}
	list_change_do(&c);
	return 0;
}

void worker_insert(struct worker *w, struct pipeline *p, enum worker_position position) {
	struct list_change c = {.worker = w, .insert = {p, position}};

	list_change_do(&c);
}

int worker_add(struct worker *w, struct pipeline *p) {
	if (worker_reserve(w, 1) != 0)
		return -1;
	worker_insert(w, p, WORKER_GROUPS);
	return 0;
}

void worker_remove(struct worker *w, const struct pipeline *p) {
	struct list_change c = {.worker = w, .remove = p};

	list_change_do(&c);
}

void worker_free(struct worker *w) {
	sleeper_close(&w->sleeper);
	free(w->sources);
	w->sources = NULL;
	w->source_count = 0;
	free(w->entries);
	w->entries = NULL;
	w->entry_count = w->entry_capacity = 0;
}

unsigned worker_round(struct worker *w) {
	unsigned work = 0;

	for (unsigned i = 0; i < w->entry_count; i++)
		work += pipeline_run(w->entries[i].pipeline);
	return work;
}

static void task_submit(struct worker *w, enum worker_urgency urgency, struct worker_task *task) {
	__atomic_store_n(&w->tasks[urgency], task, __ATOMIC_RELEASE);
	sleeper_wake(&w->sleeper);
}

/* Returns whether there was a task. Does not read a task that is done: the thread that waits for it
 * may have freed it. */
static bool task_step(struct worker *w, enum worker_urgency urgency) {
	struct worker_task *task = __atomic_load_n(&w->tasks[urgency], __ATOMIC_ACQUIRE), *next;
	bool *done;

	if (likely(task == NULL))
		return false;
	next = task->next;
	done = task->done;
	if (!task->step(task->arg))
		return true;
	__atomic_store_n(&w->tasks[urgency], NULL, __ATOMIC_RELEASE);
	if (next != NULL) /* its chain has not ended, so that it lives */
		task_submit(next->worker, urgency, next);
	else if (done != NULL)
		__atomic_store_n(done, true, __ATOMIC_RELEASE);
	return true;
}

void worker_online(const struct worker *w) {
	if (w->quiet == NULL)
		return;
	rte_rcu_qsbr_thread_register(w->quiet, w->quiet_id);
	rte_rcu_qsbr_thread_online(w->quiet, w->quiet_id);
}

void worker_offline(const struct worker *w) {
	if (w->quiet == NULL)
		return;
	rte_rcu_qsbr_thread_offline(w->quiet, w->quiet_id);
	rte_rcu_qsbr_thread_unregister(w->quiet, w->quiet_id);
}

bool worker_quiescent(struct worker *w) {
	/* No pipeline is running between two rounds. */
	bool step = task_step(w, WORKER_NOW) || task_step(w, WORKER_LATER);

	if (likely(w->quiet != NULL))
		rte_rcu_qsbr_quiescent(w->quiet, w->quiet_id);
	return step;
}

void worker_nap(unsigned *us) {
	*us = *us == 0 ? NAP_FIRST_US : RTE_MIN(2 * *us, (unsigned)NAP_MAX_US);
	usleep(*us);
}

void worker_begin(struct worker *w, struct worker_task *task) {
	if (w->started) {
		task_submit(w, WORKER_NOW, task);
		return;
	}
	while (!task->step(task->arg))
		;
}

void worker_wait(const struct worker *w) {
	unsigned us = 0;

	while (__atomic_load_n(&w->tasks[WORKER_NOW], __ATOMIC_ACQUIRE) != NULL)
		worker_nap(&us);
}

void worker_do(struct worker *w, struct worker_task *task) {
	worker_begin(w, task);
	worker_wait(w);
}

void worker_chain_begin(struct worker_task *first, enum worker_urgency urgency, bool *done) {
	struct worker_task *last = first;

	while (last->next != NULL)
		last = last->next;
	last->done = done;
	if (first->worker->started) {
		task_submit(first->worker, urgency, first);
		return;
	}
	for (const struct worker_task *t = first; t != NULL; t = t->next) {
		while (!t->step(t->arg))
			;
	}
	*done = true;
}

bool worker_chain_is_done(const bool *done) {
	return __atomic_load_n(done, __ATOMIC_ACQUIRE);
}

void worker_chain_wait(const bool *done) {
	unsigned us = 0;

	while (!worker_chain_is_done(done))
		worker_nap(&us);
}

void worker_start(struct worker *w) {
	w->stop = false;
	w->started = true;
}

void worker_stop(struct worker *w) {
	__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
	sleeper_wake(&w->sleeper);
}

void worker_stopped(struct worker *w) {
	w->started = false;
}
