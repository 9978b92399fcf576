/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the governor's inputs by relaxed loads, without cost for the workers. */
#include <rte_ring.h>

#include "power/live/parts.h"

#define LOAD(value) __atomic_load_n(&(value), __ATOMIC_RELAXED)

static void read_worker(const struct worker *w, struct governor_reading *r) {
	r->busy = LOAD(w->busy_cycles);
	r->idle = LOAD(w->idle_cycles);
	r->paused = LOAD(w->idle.ticks);
	r->rounds = LOAD(w->rounds);
	r->busy_rounds = LOAD(w->busy_rounds);
}

/* If both parts run on one worker, the ring between them is empty after each round. */
static void read_group(const struct server *s, const struct served_group *g,
		       struct governor_reading *readings) {
	struct governor_reading *upper = &readings[g->upper - s->workers];

	upper->full_polls += LOAD(g->downstream->upper.effort.full_polls);
	upper->backlog += scheduler_queued(g->downstream->upper.scheduler);
	if (g->lower != g->upper)
		readings[g->lower - s->workers].ring +=
			rte_ring_count(g->downstream->lower.from_upper);
	if (g->upstream != NULL)
		readings[g->upstream_worker - s->workers].full_polls +=
			LOAD(g->upstream->effort.full_polls);
}

void power_readings(struct server *s, struct governor_reading *readings) {
	for (unsigned w = 0; w < s->worker_count; w++)
		read_worker(&s->workers[w], &readings[w]);
	/* While the control thread adds or removes a group, the last values of the groups
	 * remain. */
	if (pthread_rwlock_tryrdlock(&s->lock) != 0)
		return;
	for (unsigned w = 0; w < s->worker_count; w++)
		readings[w].full_polls = readings[w].ring = readings[w].backlog = 0;
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service)
			read_group(s, &s->groups[g], readings);
	}
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		if (s->shares.of[p] != NULL)
			readings[s->shares.owners[p]].full_polls +=
				LOAD(s->shares.of[p]->full_polls);
	}
	pthread_rwlock_unlock(&s->lock);
}
