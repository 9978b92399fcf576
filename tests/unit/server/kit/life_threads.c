/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include "life_kit.h"

#include "test.h"

#define WINDOW 48 /* packets on their way: fewer than any ring or queue holds */

static void *run(void *worker) {
	worker_run(worker);
	return NULL;
}

/* With more workers than cores, each lets the others have theirs once a round. */
static uint16_t polite(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	__atomic_fetch_add((uint64_t *)ctx, 1, __ATOMIC_RELAXED);
	sched_yield();
	return n;
}

static const struct stage polite_stages[] = {{.name = "polite", .run = polite, .polls = true}};
static struct pipeline polite_lists[LIFE_WORKERS];

void life_kit_launch(struct life_kit *b) {
	for (unsigned w = 0; w < LIFE_WORKERS; w++) {
		polite_lists[w] = (struct pipeline){
			.stages = polite_stages, .count = 1, .ctx = &b->rounds[w]};
		assert_int_equal(worker_add(&b->server.workers[w], &polite_lists[w]), 0);
	}
	server_start(&b->server);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(pthread_create(&b->threads[w], NULL, run, &b->server.workers[w]),
				 0);
}

void life_kit_halt(struct life_kit *b) {
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		worker_stop(&b->server.workers[w]);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		pthread_join(b->threads[w], NULL);
	server_halted(&b->server);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		worker_remove(&b->server.workers[w], &polite_lists[w]);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		b->now = RTE_MAX(b->now, b->server.workers[w].clock.now);
}

void life_check(struct life_script *s, bool good, const char *what) {
	if (!good && s->failed == NULL)
		s->failed = what;
}

static void *play(void *arg) {
	struct life_script *s = arg;

	for (unsigned turn = 0; turn < s->turns; turn++)
		s->turn(s, turn);
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static uint64_t down_out(const struct life_kit *b) {
	const struct downstream *d = b->server.groups[0].downstream;

	return __atomic_load_n(&d->lower.counters.values[COUNTER_TRANSMITTED], __ATOMIC_RELAXED);
}

/* Both directions of the first group, never more than the window, which is all that is ever on its way. */
static void traffic(struct life_kit *b, const struct life_script *s, uint32_t *sent) {
	if (*sent - down_out(b) < WINDOW && *sent - b->taken_up[1] < WINDOW &&
	    life_kit_down(b, LIFE_SHARED, &b->file[0], 200, *sent)) {
		while (!life_kit_up(b, LIFE_SHARED, &b->file[0], *sent))
			life_kit_take(b);
		(*sent)++;
	}
	if (s->comes != NULL) {
		life_kit_down(b, LIFE_SHARED, s->comes, 200, b->serial);
		life_kit_up(b, LIFE_SHARED, s->comes, b->serial++);
	}
	life_kit_take(b);
	sched_yield();
}

void life_play(struct life_kit *b, struct life_script *s) {
	struct counters down;
	pthread_t control;
	uint32_t sent = 0;

	life_kit_launch(b);
	assert_int_equal(pthread_create(&control, NULL, play, s), 0);
	while (!__atomic_load_n(&s->done, __ATOMIC_ACQUIRE))
		traffic(b, s, &sent);
	pthread_join(control, NULL);
	if (s->failed != NULL)
		fail_msg("%s", s->failed);
	while (down_out(b) < sent || b->taken_up[1] < sent) {
		life_kit_take(b);
		sched_yield();
	}
	life_kit_halt(b);
	downstream_counters(b->server.groups[0].downstream, &down);
	assert_int_equal(down.values[COUNTER_RECEIVED], sent);
	assert_int_equal(down.values[COUNTER_TRANSMITTED], sent);
	assert_int_equal(b->taken_up[1], sent);
	assert_true(sent > 0);
}
