/* SPDX-License-Identifier: BSD-3-Clause */
#include "loop.h"

#include <sys/resource.h>

#include <rte_cycles.h>

#include "pipeline/percentiles.h"

#define LONG_US 15.0 /* for shorter times, preemption is not checked */
#define TIMEOUT_MS 300 /* for the last packets of a run */

void loop_phase_set(struct loop *l, enum loop_phase phase) {
	__atomic_store_n(&l->phase, phase, __ATOMIC_RELEASE);
}

enum loop_phase loop_phase_of(const struct loop *l) {
	return __atomic_load_n(&l->phase, __ATOMIC_ACQUIRE);
}

int loop_create(struct loop *l, struct worker *w) {
	l->worker = w;
	l->us_per_cycle = 1e6 / (double)rte_get_tsc_hz();
	l->figures.rounds.ns = percentiles_create();
	for (unsigned k = 0; k < LOOP_KINDS; k++) {
		l->figures.steps[k].ns = percentiles_create();
		if (l->figures.steps[k].ns == NULL)
			return -1;
	}
	return l->figures.rounds.ns != NULL ? 0 : -1;
}

static void times_free(struct loop_times *t) {
	if (t->ns != NULL)
		hdr_close(t->ns);
	t->ns = NULL;
}

void loop_free(struct loop *l) {
	times_free(&l->figures.rounds);
	for (unsigned k = 0; k < LOOP_KINDS; k++)
		times_free(&l->figures.steps[k]);
	groups_free(&l->traffic);
}

/* Whether the thread was preempted since the last call. */
static bool was_disturbed(struct loop *l) {
	long before = l->switches;
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	l->switches = usage.ru_nivcsw + usage.ru_nvcsw;
	return l->switches != before;
}

/* Records a time, unless the thread was preempted meanwhile. Checks only long ones, and at once, so that the
 * preemption is not attributed to the next one. Returns whether it was recorded. */
static bool time_record(struct loop *l, struct loop_times *t, uint64_t cycles) {
	double us = (double)cycles * l->us_per_cycle;

	if (us > LONG_US && was_disturbed(l)) {
		t->disturbed++;
		return false;
	}
	hdr_record_value(t->ns, (int64_t)(us * 1000));
	t->above += us > LOOP_PAUSE_US;
	return true;
}

static void times_begin(struct loop_times *t) {
	hdr_reset(t->ns);
	t->disturbed = t->above = 0;
}

/* Sum over all stages that processed packets. */
static uint64_t stage_cycles(const struct worker *w) {
	uint64_t cycles = 0;

	for (unsigned e = 0; e < w->entry_count; e++) {
		const struct pipeline *p = w->entries[e].pipeline;

		for (unsigned i = 0; i < p->count; i++)
			cycles += p->accounts[i].cycles;
	}
	return cycles;
}

/* Starts the traffic of a run with all figures at 0. Returns the next phase. */
static enum loop_phase begin(struct loop *l) {
	struct groups *g = &l->traffic;

	for (unsigned i = 0; i < g->count; i++) {
		if (traffic_restart(g->all[i], &l->load) != 0)
			return LOOP_FAILED;
	}
	groups_begin(g, rte_rdtsc());
	l->figures.cycles = 0;
	l->figures.stage_cycles = -stage_cycles(l->worker);
	times_begin(&l->figures.rounds);
	for (unsigned k = 0; k < LOOP_KINDS; k++)
		times_begin(&l->figures.steps[k]);
	was_disturbed(l);
	return LOOP_RUNNING;
}

/* Whether a change waits for the worker. */
static bool has_task(const struct worker *w) {
	return __atomic_load_n(&w->tasks[WORKER_NOW], __ATOMIC_ACQUIRE) != NULL ||
	       __atomic_load_n(&w->tasks[WORKER_LATER], __ATOMIC_ACQUIRE) != NULL;
}

/* Runs one round. With `counts`, records its time if it had packets, and that of a step of a change. */
static void worker_round_timed(struct loop *l, bool counts) {
	struct worker *w = l->worker;
	bool has_pending_task = has_task(w);
	uint64_t start, middle, end;
	unsigned work;

	start = rte_rdtsc();
	clock_tick(&w->clock);
	work = worker_round(w);
	middle = rte_rdtsc();
	worker_quiescent(w);
	end = rte_rdtsc();
	if (!counts)
		return;
	if (work > 0 && time_record(l, &l->figures.rounds, middle - start))
		l->figures.cycles += middle - start;
	if (has_pending_task)
		time_record(l, &l->figures.steps[__atomic_load_n(&l->kind, __ATOMIC_RELAXED)],
			    end - middle);
}

/* Ends the traffic of a run. Packets that do not arrive within TIMEOUT_MS count as lost. */
static void finish(struct loop *l) {
	struct groups *g = &l->traffic;
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * TIMEOUT_MS;

	l->figures.stage_cycles += stage_cycles(l->worker);
	groups_stop(g);
	while (rte_rdtsc() < end && !(groups_all_sent(g) && groups_in_flight(g) == 0)) {
		groups_send(g, rte_rdtsc());
		worker_round_timed(l, false);
		groups_receive(g);
	}
	groups_finish(g);
}

int loop_run(void *loop) {
	struct loop *l = loop;
	enum loop_phase phase;

	worker_online(l->worker);
	while ((phase = loop_phase_of(l)) != LOOP_EXIT) {
		switch (phase) {
		case LOOP_STARTING: loop_phase_set(l, begin(l)); break;
		case LOOP_DRAINING:
			finish(l);
			loop_phase_set(l, LOOP_IDLE);
			break;
		case LOOP_RUNNING: groups_send(&l->traffic, rte_rdtsc()); break;
		default: break;
		}
		worker_round_timed(l, phase == LOOP_RUNNING);
		if (phase == LOOP_RUNNING)
			groups_receive(&l->traffic);
	}
	worker_offline(l->worker);
	return 0;
}
