/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/running.h"

#include <stdio.h>
#include <sys/prctl.h>

#include <rte_launch.h>
#include <rte_malloc.h>

#include "log/log.h"
#include "platform/unmap.h"

/* So that naps of some microseconds are not some tens longer. */
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
	unmap_waits(unmap_wait, s);
	for (unsigned w = 0; w < s->worker_count; w++)
		rte_eal_remote_launch(worker_run, &s->workers[w], w + 1);
}

void server_halt(struct server *s) {
	for (unsigned w = 0; w < s->worker_count; w++)
		worker_stop(&s->workers[w]);
	rte_eal_mp_wait_lcore();
	server_halted(s);
	unmap_waits(NULL, NULL);
}

void server_halted(struct server *s) {
	for (unsigned w = 0; w < s->worker_count; w++)
		worker_stopped(&s->workers[w]);
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
