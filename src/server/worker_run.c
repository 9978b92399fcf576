/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a worker, and how it idles. */
#include <stdlib.h>
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#include "platform/log/log.h"
#include "platform/port_wake.h"
#include "power/idle/instructions.h"
#include "server/worker.h"

/* Sets the longest to `cycles` if that is larger. Another thread may reset it. */
static void keep_larger(uint64_t *longest, uint64_t cycles) {
	uint64_t before = __atomic_load_n(longest, __ATOMIC_RELAXED);

	while (cycles > before && !__atomic_compare_exchange_n(longest, &before, cycles, false,
							       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Rare, so that other threads may read and reset the values atomically. */
static __rte_noinline void round_was_long(struct worker *w, uint64_t cycles, uint64_t end) {
	w->descheduled++;
	gaps_record(&w->gaps, end - cycles, end);
	keep_larger(&w->longest, cycles);
	keep_larger(&w->longest_since, cycles);
	keep_larger(&w->longest_control, cycles);
}

uint64_t worker_longest_read(struct worker *w) {
	return __atomic_exchange_n(&w->longest_since, 0, __ATOMIC_RELAXED);
}

uint64_t worker_longest_read_control(struct worker *w) {
	return __atomic_exchange_n(&w->longest_control, 0, __ATOMIC_RELAXED);
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

/* After a round with work: wakes peers, and emulates a lower frequency. */
static __rte_noinline void after_work(struct worker *w, uint64_t start) {
	uint32_t slowdown = __atomic_load_n(&w->slowdown, __ATOMIC_RELAXED);
	uint64_t now;

	if (__atomic_load_n(&w->wakes, __ATOMIC_RELAXED))
		peers_wake(w, &w->sends_to);
	if (slowdown == 0)
		return;
	now = rte_rdtsc();
	power_spin(now + ((now - start) * slowdown >> 8));
}

/* A round after the worker has announced that it will sleep: workers that hand it packets from now
 * on wake it. Work in this round is no idle time. Returns whether to sleep. */
static bool last_round(struct worker *w, uint64_t *start) {
	uint64_t began = rte_rdtsc(), cycles;
	unsigned work;
	bool step;

	clock_tick(&w->clock);
	work = worker_round(w);
	step = worker_quiescent(w);
	w->rounds++;
	if (work == 0) /* the round may have queued something for a later round */
		return !step && !__atomic_load_n(&w->stop, __ATOMIC_RELAXED) &&
		       worker_due(w) > w->clock.now;
	after_work(w, began);
	cycles = rte_rdtsc() - began;
	w->busy_rounds++;
	w->busy_cycles += cycles;
	*start += cycles;
	return false;
}

static void sources_arm(const struct worker *w, bool arm) {
	for (unsigned i = 0; i < w->source_count; i++) {
		const struct worker_source *source = &w->sources[i];

		if (source->wakes && arm)
			port_wake_arm(source->port, source->queue);
		else if (source->wakes)
			port_wake_disarm(source->port, source->queue);
	}
}

/* Gives the core away for up to `ns`; no thread waits for its quiescent state meanwhile. Returns
 * the ticks that were requested, or what it took if that is less. */
static uint64_t sleep_for(struct worker *w, uint64_t ns, uint64_t *start) {
	uint64_t ticks = 0, began;

	sources_arm(w, true);
	sleeper_begin(&w->sleeper);
	if (last_round(w, start)) {
		began = rte_rdtsc();
		if (w->quiet != NULL)
			rte_rcu_qsbr_thread_offline(w->quiet, w->quiet_id);
		if (sleeper_sleep(&w->sleeper, ns))
			port_wakes_clear(w->sleeper.epoll);
		if (w->quiet != NULL)
			rte_rcu_qsbr_thread_online(w->quiet, w->quiet_id);
		ticks = rte_rdtsc() - began;
		idle_count(&w->idle, ticks);
		ticks = RTE_MIN(ticks, idle_ticks(&w->idle, ns));
	}
	sleeper_end(&w->sleeper);
	sources_arm(w, false);
	return ticks;
}

/* After a round without work. Returns the ticks of its pause, as sleep_for(). */
static __rte_noinline uint64_t pause_for(struct worker *w, uint64_t *start) {
	struct idle *i = &w->idle;
	uint64_t length = idle_empty(i, w->busy_rounds, w->clock.now), now, due, ns;

	if (length == 0) {
		rte_pause();
		return 0;
	}
	due = worker_due(w);
	if (unlikely(due <= w->clock.now) && i->config.kind == IDLE_SLEEP)
		peers_wake(w, &w->receives_from); /* due work may wait for them */
	if (idle_is_long(i)) {
		ns = idle_sleep(i, w->clock.now, due, w->woken);
		if (ns > 0)
			return sleep_for(w, ns, start);
	}
	clock_tick(&w->clock);
	now = rte_rdtsc();
	length = idle_ticks(i, idle_bound(i, length, w->clock.now, due));
	if (length > 0 && w->monitored && i->config.kind == IDLE_UMWAIT) {
		port_monitor(w->sources[0].port, w->sources[0].queue, now + length);
		idle_count(i, rte_rdtsc() - now);
	} else if (length > 0) {
		idle_pause(i, now, length);
	}
	return RTE_MIN(length, rte_rdtsc() - now); /* something may have ended it early */
}

/*
 * After a round with few packets: pauses until `coalesce` has passed since its start, so that more
 * packets share the cost of the next round. Work that is due does not wait. Returns the ticks that
 * were requested; `*took` is what it took, more if the system had the core.
 */
static __rte_noinline uint64_t coalesce(struct worker *w, uint64_t start, uint64_t *took) {
	struct idle *i = &w->idle;
	uint64_t now = rte_rdtsc(), end = start + idle_ticks(i, i->config.coalesce), due, ticks;

	if (now >= end)
		return 0;
	due = worker_due(w);
	clock_tick(&w->clock);
	if (due <= w->clock.now)
		return 0;
	ticks = RTE_MIN(end - now, idle_ticks(i, due - w->clock.now));
	idle_pause(i, now, ticks);
	*took = rte_rdtsc() - now;
	return RTE_MIN(ticks, *took);
}

int worker_run(void *worker) {
	struct worker *w = worker;
	uint64_t long_round = rte_get_tsc_hz() / 1000000 * WORKER_ROUND_MAX_US;
	uint64_t start = rte_rdtsc();

	sleeper_prepare();
	worker_online(w);
	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		uint64_t end, paused = 0, took = 0; /* the latter after a round with work */
		unsigned work;
		bool step;

		clock_tick(&w->clock);
		work = worker_round(w);
		step = worker_quiescent(w);
		if (work > 0) {
			if (unlikely(__atomic_load_n(&w->wakes, __ATOMIC_RELAXED) ||
				     __atomic_load_n(&w->slowdown, __ATOMIC_RELAXED) != 0))
				after_work(w, start);
			if (unlikely(w->idle.config.coalesce > 0) && work < WORKER_FULL_ROUND)
				paused = coalesce(w, start, &took);
		} else if (likely(w->idle.config.kind == IDLE_POLL || step)) {
			rte_pause();
		} else {
			paused = pause_for(w, &start);
		}
		end = rte_rdtsc();
		w->rounds++;
		w->busy_rounds += work > 0;
		*(work > 0 ? &w->busy_cycles : &w->idle_cycles) += end - start - took;
		w->idle_cycles += took;
		if (unlikely(end - start - paused > long_round))
			round_was_long(w, end - start - paused, end);
		start = end;
	}
	worker_offline(w);
	return 0;
}

struct sources_change {
	struct worker *worker;
	struct worker_source *list;
	unsigned count;
	bool known;
};

static bool sources_step(void *arg) {
	struct sources_change *c = arg;
	struct worker *w = c->worker;
	struct worker_source *before = w->sources;

	w->sources = c->list;
	w->source_count = c->count;
	c->list = before;
	w->woken = c->known;
	for (unsigned i = 0; i < w->source_count; i++)
		w->woken = w->woken && w->sources[i].wakes;
	w->monitored = c->known && w->source_count == 1 &&
		       port_can_monitor(w->sources[0].port, w->sources[0].queue);
	for (unsigned word = 0; word < RTE_DIM(w->receives_from.bits); word++)
		w->monitored = w->monitored && w->receives_from.bits[word] == 0;
	return true;
}

void worker_sources(struct worker *w, const struct worker_source *list, unsigned count,
		    bool known) {
	struct sources_change c = {.worker = w, .count = count, .known = known};
	struct worker_task task = {sources_step, &c};

	if (count > 0)
		c.list = malloc(count * sizeof(*list));
	if (c.list != NULL)
		memcpy(c.list, list, count * sizeof(*list));
	if (c.list == NULL && count > 0)
		c = (struct sources_change){.worker = w};
	worker_do(w, &task);
	free(c.list);
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
		log_error("power", LOG_NO_FIELDS, "worker %s: no eventfd for wake-ups", w->name);
		return -1;
	}
	worker_do(w, &task);
	return 0;
}
