/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a worker, and what it does while nothing comes. */
#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#include "idle/instructions.h"
#include "log/log.h"
#include "server/worker.h"

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
	keep_larger(&w->longest_watch, cycles);
}

uint64_t worker_longest_take(struct worker *w) {
	return __atomic_exchange_n(&w->longest_since, 0, __ATOMIC_RELAXED);
}

uint64_t worker_longest_watch(struct worker *w) {
	return __atomic_exchange_n(&w->longest_watch, 0, __ATOMIC_RELAXED);
}

uint64_t worker_due(const struct worker *w) {
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < w->entry_count && due > 0; i++)
		due = RTE_MIN(due, pipeline_due(w->entries[i].pipeline));
	return due;
}

static void peers_wake(struct worker *w, const struct worker_peers *peers) {
	for (unsigned word = 0; w->all != NULL && word < RTE_DIM(peers->bits); word++) {
		uint64_t bits = __atomic_load_n(&peers->bits[word], __ATOMIC_RELAXED);

		for (; bits != 0; bits &= bits - 1)
			sleeper_wake(&w->all[word * 64 + (unsigned)__builtin_ctzll(bits)].sleeper);
	}
}

/* Of a round with work, where there is more to do than the next. */
static __rte_noinline void behind_work(struct worker *w, uint64_t start) {
	uint32_t slowdown = __atomic_load_n(&w->slowdown, __ATOMIC_RELAXED);
	uint64_t now;

	if (w->wakes)
		peers_wake(w, &w->hands_to);
	if (slowdown == 0)
		return;
	now = rte_rdtsc();
	power_spin(now + ((now - start) * slowdown >> 8));
}

/* A round in which somebody who makes work already knows that he is to wake. Its work is no idle time. */
static bool last_round(struct worker *w, uint64_t *start) {
	uint64_t began = rte_rdtsc(), cycles;
	unsigned work;
	bool step;

	clock_tick(&w->clock);
	work = worker_round(w);
	step = worker_between(w);
	w->rounds++;
	if (work == 0)
		return !step && !__atomic_load_n(&w->stop, __ATOMIC_RELAXED);
	behind_work(w, began);
	cycles = rte_rdtsc() - began;
	w->busy_rounds++;
	w->busy_cycles += cycles;
	*start += cycles;
	return false;
}

/* Gives the core away for up to `ns`. Nobody waits for it meanwhile. Returns the ticks that were asked for, or what it took
 * where that is less. */
static uint64_t sleep_for(struct worker *w, uint64_t ns, uint64_t *start) {
	uint64_t ticks = 0, began;

	sleeper_begin(&w->sleeper);
	if (last_round(w, start)) {
		began = rte_rdtsc();
		if (w->quiet != NULL)
			rte_rcu_qsbr_thread_offline(w->quiet, w->quiet_id);
		sleeper_sleep(&w->sleeper, ns);
		if (w->quiet != NULL)
			rte_rcu_qsbr_thread_online(w->quiet, w->quiet_id);
		ticks = rte_rdtsc() - began;
		idle_count(&w->idle, ticks);
		ticks = RTE_MIN(ticks, idle_ticks(&w->idle, ns));
	}
	sleeper_end(&w->sleeper);
	return ticks;
}

/* Of a round without work. Returns the ticks of its pause, as sleep_for(). */
static __rte_noinline uint64_t pause_for(struct worker *w, uint64_t *start) {
	struct idle *i = &w->idle;
	uint64_t length = idle_empty(i, w->busy_rounds, w->clock.now), now, due, ns;

	if (length == 0) {
		rte_pause();
		return 0;
	}
	due = worker_due(w);
	if (unlikely(due <= w->clock.now) && i->config.kind == IDLE_SLEEP)
		peers_wake(w, &w->handed_by); /* what is due may wait for them */
	if (idle_is_long(i)) {
		ns = idle_sleep(i, w->clock.now, due, false);
		if (ns > 0)
			return sleep_for(w, ns, start);
	}
	clock_tick(&w->clock);
	now = rte_rdtsc();
	length = idle_ticks(i, idle_bound(i, length, w->clock.now, due));
	if (length > 0)
		idle_pause(i, now, length);
	return length;
}

int worker_run(void *worker) {
	struct worker *w = worker;
	uint64_t long_round = rte_get_tsc_hz() / 1000000 * WORKER_ROUND_MAX_US;
	uint64_t start = rte_rdtsc();

	sleeper_prepare();
	worker_online(w);
	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		uint64_t end, paused = 0;
		unsigned work;
		bool step;

		clock_tick(&w->clock);
		work = worker_round(w);
		step = worker_between(w);
		if (work > 0) {
			if (unlikely(w->wakes || w->slowdown != 0))
				behind_work(w, start);
		} else if (likely(w->idle.config.kind == IDLE_POLL || step)) {
			rte_pause();
		} else {
			paused = pause_for(w, &start);
		}
		end = rte_rdtsc();
		w->rounds++;
		w->busy_rounds += work > 0;
		*(work > 0 ? &w->busy_cycles : &w->idle_cycles) += end - start;
		if (unlikely(end - start - paused > long_round))
			round_was_long(w, end - start - paused);
		start = end;
	}
	worker_offline(w);
	return 0;
}

struct idle_change {
	struct worker *worker;
	const struct idle_config *config;
};

static bool idle_step(void *arg) {
	struct idle_change *c = arg;

	idle_set(&c->worker->idle, c->config);
	return true;
}

int worker_idle(struct worker *w, const struct idle_config *config) {
	struct idle_change c = {w, config};
	struct worker_task task = {idle_step, &c};

	if (config->kind == IDLE_SLEEP && sleeper_open(&w->sleeper) != 0) {
		log_error("power", LOG_NO_FIELDS, "worker %s: no eventfd to be woken by", w->name);
		return -1;
	}
	worker_do(w, &task);
	return 0;
}
