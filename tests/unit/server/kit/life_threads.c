/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include "life_kit.h"

#include "test.h"

#define WINDOW 48 /* packets in flight; below the capacity of any ring or queue */

static void *run_worker(void *worker) {
	worker_run(worker);
	return NULL;
}

/* A stage that yields the core once per round, as workers may share a core. */
static uint16_t yield_core(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	__atomic_fetch_add((uint64_t *)ctx, 1, __ATOMIC_RELAXED);
	sched_yield();
	return n;
}

static const struct stage yield_stages[] = {{.name = "yield", .run = yield_core, .polls = true}};
static struct pipeline yield_lists[LIFE_WORKERS];

void life_kit_launch(struct life_kit *k) {
	for (unsigned w = 0; w < LIFE_WORKERS; w++) {
		yield_lists[w] =
			(struct pipeline){.stages = yield_stages, .count = 1, .ctx = &k->rounds[w]};
		assert_int_equal(worker_add(&k->server.workers[w], &yield_lists[w]), 0);
	}
	server_start(&k->server);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(
			pthread_create(&k->threads[w], NULL, run_worker, &k->server.workers[w]), 0);
}

void life_kit_halt(struct life_kit *k) {
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		worker_stop(&k->server.workers[w]);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		pthread_join(k->threads[w], NULL);
	server_halted(&k->server);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		worker_remove(&k->server.workers[w], &yield_lists[w]);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		k->now = RTE_MAX(k->now, k->server.workers[w].clock.now);
}

void life_check(struct life_script *s, bool good, const char *failure) {
	if (!good && s->failure == NULL)
		s->failure = failure;
}

static void *run_steps(void *arg) {
	struct life_script *s = arg;

	for (unsigned number = 0; number < s->steps; number++)
		s->step(s, number);
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static uint64_t transmitted(const struct life_kit *k) {
	const struct downstream *d = k->server.groups[0].downstream;

	return __atomic_load_n(&d->lower.counters.values[COUNTER_TRANSMITTED], __ATOMIC_RELAXED);
}

/* Sends a packet of group 1 in each direction unless WINDOW packets are in flight. Sends packets of
 * the script's extra group, too. */
static void send_traffic(struct life_kit *k, const struct life_script *s, uint32_t *sent) {
	if (*sent - transmitted(k) < WINDOW && *sent - k->received_up[1] < WINDOW &&
	    life_kit_send_packet(k, LIFE_SHARED, &k->file[0], 200, *sent)) {
		while (!life_kit_send_burst(k, LIFE_SHARED, &k->file[0], *sent))
			life_kit_receive(k);
		(*sent)++;
	}
	if (s->extra != NULL) {
		life_kit_send_packet(k, LIFE_SHARED, s->extra, 200, k->serial);
		life_kit_send_burst(k, LIFE_SHARED, s->extra, k->serial++);
	}
	life_kit_receive(k);
	sched_yield();
}

void life_run_script(struct life_kit *k, struct life_script *s) {
	struct counters down;
	pthread_t control;
	uint32_t sent = 0;

	life_kit_launch(k);
	assert_int_equal(pthread_create(&control, NULL, run_steps, s), 0);
	while (!__atomic_load_n(&s->done, __ATOMIC_ACQUIRE))
		send_traffic(k, s, &sent);
	pthread_join(control, NULL);
	if (s->failure != NULL)
		fail_msg("%s", s->failure);
	while (transmitted(k) < sent || k->received_up[1] < sent) {
		life_kit_receive(k);
		sched_yield();
	}
	life_kit_halt(k);
	downstream_counters(k->server.groups[0].downstream, &down);
	assert_int_equal(down.values[COUNTER_RECEIVED], sent);
	assert_int_equal(down.values[COUNTER_TRANSMITTED], sent);
	assert_int_equal(k->received_up[1], sent);
	assert_true(sent > 0);
}
