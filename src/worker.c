/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <rte_cycles.h>
#include <rte_pause.h>

void worker_add(struct worker *w, struct pipeline *p) {
	w->pipelines[w->pipeline_count++] = p;
}

unsigned worker_round(struct worker *w) {
	unsigned work = 0;

	for (unsigned i = 0; i < w->pipeline_count; i++)
		work += pipeline_run(w->pipelines[i]);
	return work;
}

int worker_run(void *worker) {
	struct worker *w = worker;
	uint64_t start = rte_rdtsc();

	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		unsigned work;
		uint64_t end;

		clock_tick(&w->clock);
		work = worker_round(w);
		if (work == 0)
			rte_pause(); /* the place where power management will sit */
		end = rte_rdtsc();
		w->rounds++;
		w->busy_rounds += work > 0;
		*(work > 0 ? &w->busy_cycles : &w->idle_cycles) += end - start;
		start = end;
	}
	return 0;
}

void worker_stop(struct worker *w) {
	__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
}
