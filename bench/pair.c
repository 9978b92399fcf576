/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_pause.h>
#include <rte_ring.h>

static bool is_allowed(const cpu_set_t *set, unsigned core) {
	return core < CPU_SETSIZE && CPU_ISSET(core, set);
}

unsigned pair_cores(const struct thread_config *threads, unsigned cores[2]) {
	unsigned count = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 0;
	for (unsigned core = 0; core < CPU_SETSIZE; core++) {
		if (!is_allowed(&set, core))
			continue;
		if (count < 2)
			cores[count] = core;
		count++;
	}
	if (threads->downstream == LAYOUT_1DS2T && is_allowed(&set, threads->upper_mac_core) &&
	    is_allowed(&set, threads->lower_mac_core)) {
		cores[0] = threads->upper_mac_core;
		cores[1] = threads->lower_mac_core;
	}
	return count;
}

static enum pair_state state_of(const struct pair *p) {
	return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
}

static void state_set(struct pair *p, enum pair_state state) {
	__atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
}

/* Advances the lower MAC's clock by at most one step per burst, as in the upper MAC. DEPI frames are then flushed as
 * often as on one core, although the lower MAC may be some bursts behind. */
static void lower_tick(struct pair *p) {
	uint64_t now = __atomic_load_n(&p->now, __ATOMIC_RELAXED);

	if (rte_ring_count(p->downstream->lower.from_upper) > 0)
		p->lower_clock->now = RTE_MIN(p->lower_clock->now + p->step_ns, now);
}

/* Runs the lower MAC once. Returns 0 if it had no work. */
static unsigned lower_round(struct pair *p) {
	uint64_t start = rte_rdtsc();
	unsigned work;

	lower_tick(p);
	work = pipeline_run(&p->downstream->lower_mac);
	if (work > 0)
		p->lower_cycles += rte_rdtsc() - start;
	else
		rte_pause();
	return work;
}

/* The second core's thread. `arg`: a struct pair. */
static int lower_run(void *arg) {
	struct pair *p = arg;
	enum pair_state state;

	while ((state = state_of(p)) != PAIR_EXIT) {
		if (state == PAIR_IDLE) {
			rte_pause();
			continue;
		}
		/* The state was read before the ring, so all packets before PAIR_DRAINING are in the ring by
		 * now. */
		if (lower_round(p) == 0 && state == PAIR_DRAINING &&
		    rte_ring_empty(p->downstream->lower.from_upper))
			state_set(p, PAIR_IDLE);
	}
	return 0;
}

int pair_start(struct pair *p, struct downstream *d, struct clock *upper, struct clock *lower) {
	memset(p, 0, sizeof(*p));
	p->upper_clock = upper;
	p->lower_clock = lower;
	p->downstream = d;
	if (rte_eal_remote_launch(lower_run, p, PAIR_LCORE) != 0) {
		fprintf(stderr, "the second core cannot be started\n");
		p->downstream = NULL;
		return -1;
	}
	return 0;
}

void pair_stop(struct pair *p) {
	if (p->downstream == NULL)
		return;
	state_set(p, PAIR_EXIT);
	rte_eal_wait_lcore(PAIR_LCORE);
	p->downstream = NULL;
}

/* Runs the upper MAC once, at the time `now`. */
static void upper_round(struct pair *p, uint64_t now) {
	uint64_t start;
	unsigned work;

	/* If the lower MAC is slower, the ring fills and the upper MAC waits. Only this benchmark does so;
	 * otherwise queues would grow from one pair_carry() to the next. */
	while (rte_ring_free_count(p->downstream->upper.to_lower) < PIPELINE_BURST)
		rte_pause();
	start = rte_rdtsc();
	p->upper_clock->now = now;
	__atomic_store_n(&p->now, now, __ATOMIC_RELAXED);
	work = pipeline_run(&p->downstream->enqueue);
	work += pipeline_run(&p->downstream->dequeue);
	if (work > 0)
		p->upper_cycles += rte_rdtsc() - start;
}

void pair_carry(struct pair *p, unsigned rounds, uint64_t step_ns, uint64_t *now) {
	p->step_ns = step_ns;
	p->lower_clock->now = *now;
	__atomic_store_n(&p->now, *now, __ATOMIC_RELAXED);
	state_set(p, PAIR_RUNNING);
	for (unsigned i = 0; i < rounds; i++) {
		*now += step_ns;
		upper_round(p, *now);
	}
	state_set(p, PAIR_DRAINING);
	while (state_of(p) != PAIR_IDLE)
		rte_pause();
}

uint64_t pair_take_cycles(struct pair *p) {
	uint64_t cycles = p->upper_cycles + p->lower_cycles;

	p->upper_cycles = 0;
	p->lower_cycles = 0;
	return cycles;
}
