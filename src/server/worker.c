/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#define TASK_POLL_US 200
#define FIRST_ROOM 8u /* pipelines; a group has five */

int worker_add(struct worker *w, struct pipeline *p) {
	if (w->pipeline_count == w->pipeline_room) {
		unsigned room = RTE_MAX(2 * w->pipeline_room, FIRST_ROOM);
		struct pipeline **list = realloc(w->pipelines, room * sizeof(struct pipeline *));

		if (list == NULL) {
			fprintf(stderr, "worker %s: no memory for %u pipelines\n", w->name, room);
			return -1;
		}
		w->pipelines = list;
		w->pipeline_room = room;
	}
	w->pipelines[w->pipeline_count++] = p;
	return 0;
}

void worker_free(struct worker *w) {
	free(w->pipelines);
	w->pipelines = NULL;
	w->pipeline_count = w->pipeline_room = 0;
}

unsigned worker_round(struct worker *w) {
	unsigned work = 0;

	for (unsigned i = 0; i < w->pipeline_count; i++)
		work += pipeline_run(w->pipelines[i]);
	return work;
}

/* Between two rounds nobody is inside of what the worker owns. */
static void task_step(struct worker *w) {
	struct worker_task *task = __atomic_load_n(&w->task, __ATOMIC_ACQUIRE);

	if (unlikely(task != NULL) && task->step(task->arg))
		__atomic_store_n(&w->task, NULL, __ATOMIC_RELEASE);
}

static void keep_larger(uint64_t *longest, uint64_t cycles) {
	uint64_t before = __atomic_load_n(longest, __ATOMIC_RELAXED);

	while (cycles > before && !__atomic_compare_exchange_n(longest, &before, cycles, false,
							       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Seldom, so that others may read and reset what it notes. */
static __rte_noinline void round_was_long(struct worker *w, uint64_t cycles) {
	w->descheduled++;
	keep_larger(&w->longest, cycles);
	keep_larger(&w->longest_since, cycles);
}

uint64_t worker_longest_take(struct worker *w) {
	return __atomic_exchange_n(&w->longest_since, 0, __ATOMIC_RELAXED);
}

int worker_run(void *worker) {
	struct worker *w = worker;
	uint64_t long_round = rte_get_tsc_hz() / 1000000 * WORKER_ROUND_MAX_US;
	uint64_t start = rte_rdtsc();

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		unsigned work;
		uint64_t end;

		clock_tick(&w->clock);
		work = worker_round(w);
		task_step(w);
		if (work == 0)
			rte_pause(); /* the place where power management will sit */
		end = rte_rdtsc();
		w->rounds++;
		w->busy_rounds += work > 0;
		*(work > 0 ? &w->busy_cycles : &w->idle_cycles) += end - start;
		if (unlikely(end - start > long_round))
			round_was_long(w, end - start);
		start = end;
	}
	return 0;
}

void worker_do(struct worker *w, struct worker_task *task) {
	__atomic_store_n(&w->task, task, __ATOMIC_RELEASE);
	while (__atomic_load_n(&w->task, __ATOMIC_ACQUIRE) != NULL)
		usleep(TASK_POLL_US);
}

void worker_stop(struct worker *w) {
	__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
}
