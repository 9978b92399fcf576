/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_malloc.h>

#include "platform/log/log.h"
#include "platform/port_wake.h"
#include "platform/unmap.h"

/* Otherwise naps of some microseconds last tens of microseconds longer. */
#define TIMER_SLACK_NS 1000UL

int server_quiet_create(struct server *s) {
	size_t size = rte_rcu_qsbr_get_memsize(s->worker_count);

	s->quiet = rte_zmalloc("quiet", size, RTE_CACHE_LINE_SIZE);
	if (s->quiet == NULL || rte_rcu_qsbr_init(s->quiet, s->worker_count) != 0) {
		log_error("memory", LOG_NO_FIELDS, "no memory for %u workers", s->worker_count);
		return -1;
	}
	for (unsigned w = 0; w < s->worker_count; w++) {
		s->workers[w].quiet = s->quiet;
		s->workers[w].quiet_id = w;
		s->workers[w].all = s->workers;
	}
	return 0;
}

void server_quiet_free(struct server *s) {
	rte_free(s->quiet);
	s->quiet = NULL;
}

void server_start(struct server *s) {
	uint64_t base = rte_rdtsc();

	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].upstream != NULL)
			upstream_follow_clock(s->groups[g].upstream);
	}
	for (unsigned w = 0; w < s->worker_count; w++) {
		clock_start_at(&s->workers[w].clock, base);
		worker_start(&s->workers[w]);
	}
}

static void unmap_wait(const void *server) {
	server_synchronize(server);
}

void server_launch(struct server *s) {
	server_start(s);
	unmap_set_wait(unmap_wait, s);
	for (unsigned w = 0; w < s->worker_count; w++)
		rte_eal_remote_launch(worker_run, &s->workers[w], w + 1);
}

void server_halt(struct server *s) {
	for (unsigned w = 0; w < s->worker_count; w++)
		worker_stop(&s->workers[w]);
	rte_eal_mp_wait_lcore();
	server_halted(s);
	unmap_set_wait(NULL, NULL);
}

void server_halted(struct server *s) {
	for (unsigned w = 0; w < s->worker_count; w++)
		worker_stopped(&s->workers[w]);
}

/* Whether other threads need the core, too: the main thread, or workers where there are too few
 * cores. */
static bool core_is_shared(const struct server *s, unsigned worker) {
	return s->layout.cores[worker] == s->config->main_core ||
	       (s->machine != NULL &&
		(unsigned)CPU_COUNT(&s->machine->usable) < s->worker_count + 1);
}

/* The idle kind of a worker if `wanted` is requested. */
static enum idle_kind idle_kind_of(const struct server *s, unsigned worker, enum idle_kind wanted) {
	if (wanted == IDLE_AUTO)
		return idle_best(core_is_shared(s, worker));
	return idle_supported(wanted) ? wanted : IDLE_POLL;
}

bool server_may_sleep(const struct server *s) {
	bool sleep = s->power.idle == IDLE_SLEEP;

	for (unsigned w = 0; s->power.idle == IDLE_AUTO && w < s->worker_count; w++)
		sleep = sleep || core_is_shared(s, w);
	return sleep;
}

static void idle_log(const struct server *s, const struct power_config *power, bool supported) {
	if (!supported) {
		log_warning("power", LOG_FIELDS(LOG_STRING("idle", idle_kind_name(power->idle))),
			    "idle %s: this CPU has no such instruction: workers poll instead",
			    idle_kind_name(power->idle));
		return;
	}
	for (unsigned w = 0; power->idle != IDLE_POLL && w < s->worker_count; w++)
		log_info("power",
			 LOG_FIELDS(LOG_NUMBER("core", s->layout.cores[w]),
				    LOG_STRING("idle",
					       idle_kind_name(s->workers[w].idle.config.kind))),
			 "worker on core %u: idle %s", s->layout.cores[w],
			 idle_kind_name(s->workers[w].idle.config.kind));
	if (power->idle != IDLE_POLL && s->umwait.known)
		log_info("power",
			 LOG_FIELDS(LOG_NUMBER("max_time", s->umwait.max_time),
				    LOG_NUMBER("c02", s->umwait.c02)),
			 "the kernel ends waits after %u TSC cycles (0: never), C0.2 is %s",
			 s->umwait.max_time, s->umwait.c02 ? "allowed" : "not allowed");
}

void server_idle(struct server *s, const struct power_config *power) {
	struct idle_config c = {
		.empty_rounds = power->empty_rounds,
		.longest = power->longest_pause,
		.coalesce = power->coalesce,
		.tsc_hz = rte_get_tsc_hz(),
	};
	bool supported = power->idle == IDLE_AUTO || idle_supported(power->idle);

	for (unsigned w = 0; w < s->worker_count; w++) {
		c.kind = idle_kind_of(s, w, power->idle);
		if (worker_idle(&s->workers[w], &c) == 0)
			continue;
		c.kind = IDLE_POLL;
		worker_idle(&s->workers[w], &c);
		s->idle_refused++;
	}
	s->idle_refused += !supported;
	s->power.idle = power->idle;
	s->power.empty_rounds = power->empty_rounds;
	s->power.longest_pause = power->longest_pause;
	s->power.coalesce = power->coalesce;
	s->umwait = (struct umwait_limit){0};
	if (cpu_has_waitpkg())
		umwait_limit_read(NULL, &s->umwait);
	server_wakes_set(s, false);
	idle_log(s, power, supported);
}

static void add_peers(struct worker_peers *to, struct worker_peers *by, unsigned from,
		      unsigned worker) {
	if (from == worker)
		return;
	to[from].bits[worker / 64] |= UINT64_C(1) << worker % 64;
	by[worker].bits[from / 64] |= UINT64_C(1) << from % 64;
}

/* Rings of a group: between its MACs, and to and from the owners of its shared ports. */
static void add_group_peers(const struct server *s, unsigned group, struct worker_peers *to,
			    struct worker_peers *by) {
	const struct layout_group *at = &s->layout.groups[group];

	add_peers(to, by, at->upper, at->lower);
	if (s->groups[group].sg->upstream.scheduled)
		add_peers(to, by, at->upstream, at->lower);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned port = s->ports.of[group][role], owner;

		if (port == SERVER_NO_PORT || s->shares.of[port] == NULL)
			continue;
		owner = s->shares.owners[port];
		add_peers(to, by, owner, role == DEVICE_RPHY ? at->upstream : at->upper);
		add_peers(to, by, role == DEVICE_RPHY ? at->lower : at->upstream, owner);
	}
}

/* Port queues that a worker polls. */
struct sources {
	struct worker_source list[SERVER_PORTS_MAX];
	unsigned count;
	bool known;
};

static void source_add(struct sources *of, unsigned worker, const struct packet_source *from) {
	struct sources *sources = &of[worker];

	if (from->receive != NULL || sources->count == SERVER_PORTS_MAX)
		sources->known = false; /* it polls a queue and a ring */
	else if (from->ring == NULL)
		sources->list[sources->count++] =
			(struct worker_source){.port = from->port, .queue = from->queue};
}

static void sources_find(const struct server *s, struct sources *of) {
	for (unsigned g = 0; g < s->group_max; g++) {
		const struct served_group *group = &s->groups[g];

		if (!group->in_service)
			continue;
		source_add(of, s->layout.groups[g].upper, &group->downstream->upper.network);
		if (group->upstream != NULL)
			source_add(of, s->layout.groups[g].upstream, &group->upstream->r.rphy);
	}
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (s->shares.of[p] == NULL || !s->ports.list[p].open)
			continue; /* another port may have its ID by now */
		if (s->shares.receives[p])
			source_add(of, s->shares.owners[p], &s->shares.of[p]->from);
		if (s->ports.list[p].queues > 0)
			of[s->shares.owners[p]].known = false; /* queues that no group uses now */
	}
}

static void sources_leave(struct worker *w) {
	for (unsigned i = 0; i < w->source_count; i++) {
		if (w->sources[i].wakes)
			port_wake_remove(w->sources[i].port, w->sources[i].queue, w->sleeper.epoll);
	}
	if (w->source_count > 0 || w->woken)
		worker_sources(w, NULL, 0, false);
}

static bool waits_for_sources(const struct worker *w) {
	return w->idle.config.kind == IDLE_SLEEP || w->idle.config.kind == IDLE_UMWAIT;
}

/* Sets what wakes workers that sleep or monitor descriptors. */
static void sources_set(struct server *s) {
	struct sources *of = NULL;
	bool wanted = false;

	for (unsigned w = 0; w < s->worker_count; w++)
		wanted = wanted || waits_for_sources(&s->workers[w]);
	if (wanted)
		of = calloc(s->worker_count, sizeof(*of));
	for (unsigned w = 0; of != NULL && w < s->worker_count; w++)
		of[w].known = true;
	if (of != NULL)
		sources_find(s, of);
	for (unsigned w = 0; of != NULL && w < s->worker_count; w++) {
		struct worker *worker = &s->workers[w];
		bool sleeps = worker->idle.config.kind == IDLE_SLEEP;

		if (!waits_for_sources(worker))
			continue;
		for (unsigned i = 0; sleeps && i < of[w].count; i++)
			of[w].list[i].wakes = port_wake_add(of[w].list[i].port, of[w].list[i].queue,
							    worker->sleeper.epoll);
		worker_sources(worker, of[w].list, of[w].count, of[w].known);
	}
	free(of);
}

static void peers_set(struct worker_peers *peers, const struct worker_peers *next) {
	for (unsigned word = 0; word < RTE_DIM(peers->bits); word++)
		__atomic_store_n(&peers->bits[word], next->bits[word], __ATOMIC_RELAXED);
}

void server_wakes_set(struct server *s, bool moving) {
	struct worker_peers to[WORKER_MAX] = {0}, by[WORKER_MAX] = {0};
	bool sleep = false;

	for (unsigned g = 0; g < s->group_max; g++) {
		if (s->groups[g].sg != NULL)
			add_group_peers(s, g, to, by);
	}
	for (unsigned w = 0; w < s->worker_count; w++) {
		for (unsigned other = 0; moving && other < s->worker_count; other++)
			add_peers(to, by, w, other);
		sleep |= s->workers[w].idle.config.kind == IDLE_SLEEP;
	}
	for (unsigned w = 0; w < s->worker_count; w++) {
		struct worker *worker = &s->workers[w];

		peers_set(&worker->sends_to, &to[w]);
		peers_set(&worker->receives_from, &by[w]);
		__atomic_store_n(&worker->wakes, sleep && s->worker_count > 1, __ATOMIC_RELAXED);
		sources_leave(worker);
	}
	if (!moving)
		sources_set(s);
}

bool server_runs(const struct server *s) {
	return s->worker_count > 0 && s->workers[0].started;
}

bool server_wait(const struct server *s, unsigned *us) {
	if (server_runs(s))
		worker_nap(us);
	else if (s->rounds != NULL)
		s->rounds->pass(s->rounds->arg);
	else
		return false;
	return true;
}

uint64_t server_now(const struct server *s) {
	struct clock tsc;

	if (s->rounds != NULL)
		return s->workers[0].clock.now;
	clock_start_at(&tsc, 0);
	clock_tick(&tsc);
	return tsc.now;
}

void server_synchronize(const struct server *s) {
	uint64_t token;
	unsigned us = 0;

	if (!server_runs(s))
		return;
	token = rte_rcu_qsbr_start(s->quiet);
	while (rte_rcu_qsbr_check(s->quiet, token, false) != 1)
		worker_nap(&us);
}
