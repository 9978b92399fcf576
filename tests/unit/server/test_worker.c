/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker takes as many pipelines as it has places; a task between two rounds of one that runs. */
#include "test.h"

#include <pthread.h>

#include <rte_cycles.h>

#include "server/worker.h"

static struct worker worker;
static int rounds, steps;
static int rounds_at[3];
static bool inside;

/* A pipeline of one stage that counts the rounds. */
static uint16_t round_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	(void)ctx;
	(void)pkts;
	inside = true;
	rounds++;
	inside = false;
	return n;
}

static bool step(void *arg) {
	assert_ptr_equal(arg, &steps);
	assert_false(inside);
	rounds_at[steps++] = rounds;
	return steps == 3;
}

/* What is refused is not run, and nothing behind the places is touched. */
static void no_more_pipelines_than_places(void **state) {
	static const struct stage stages[] = {{.name = "round", .run = round_stage, .polls = true}};
	struct pipeline pipelines[WORKER_MAX_PIPELINES + 1];
	struct worker w = {.name = "full"}, full;

	(void)state;
	for (unsigned i = 0; i <= WORKER_MAX_PIPELINES; i++)
		pipelines[i] = (struct pipeline){.stages = stages, .count = 1};
	for (unsigned i = 0; i < WORKER_MAX_PIPELINES; i++)
		assert_int_equal(worker_add(&w, &pipelines[i]), 0);
	full = w;
	assert_int_equal(worker_add(&w, &pipelines[WORKER_MAX_PIPELINES]), -1);
	assert_memory_equal(&w, &full, sizeof(w));
	rounds = 0;
	worker_round(&w);
	assert_int_equal(rounds, WORKER_MAX_PIPELINES);
	rounds = 0;
}

static void *run(void *arg) {
	worker_run(arg);
	return NULL;
}

static void one_step_a_round(void **state) {
	static const struct stage stages[] = {{.name = "round", .run = round_stage, .polls = true}};
	struct pipeline pipeline = {.stages = stages, .count = 1};
	struct worker_task task = {step, &steps};
	pthread_t thread;

	(void)state;
	assert_int_equal(worker_add(&worker, &pipeline), 0);
	assert_int_equal(pthread_create(&thread, NULL, run, &worker), 0);
	for (int turn = 0; turn < 50; turn++) {
		steps = 0;
		worker_do(&worker, &task);
		assert_int_equal(steps, 3);
		assert_int_equal(rounds_at[1], rounds_at[0] + 1);
		assert_int_equal(rounds_at[2], rounds_at[1] + 1);
	}
	worker_stop(&worker);
	pthread_join(thread, NULL);
	assert_null(worker.task);
	assert_int_equal(worker.rounds, rounds);
}

#define LONG_US (3 * WORKER_ROUND_MAX_US)

/* Takes long in its second round, and ends the worker in its third. */
static uint16_t slow_stage(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct worker *w = ctx;

	(void)pkts;
	if (w->rounds == 1)
		rte_delay_us_block(LONG_US);
	if (w->rounds >= 2)
		worker_stop(w);
	return n;
}

/* A machine with other work may add more of these. */
static void long_rounds_are_noted(void **state) {
	static const struct stage stages[] = {{.name = "slow", .run = slow_stage, .polls = true}};
	static struct worker w;
	struct pipeline pipeline = {.stages = stages, .count = 1, .ctx = &w};
	uint64_t least = rte_get_tsc_hz() / 1000000 * LONG_US;

	(void)state;
	assert_int_equal(worker_add(&w, &pipeline), 0);
	worker_run(&w);
	assert_int_equal(w.rounds, 3);
	assert_in_range(w.descheduled, 1, 3);
	assert_true(w.longest >= least && w.longest < w.busy_cycles + w.idle_cycles + 1);
	assert_int_equal(w.longest_since, w.longest);
	assert_int_equal(worker_longest_take(&w), w.longest);
	assert_int_equal(worker_longest_take(&w), 0);
	w.stop = false;
	worker_run(&w); /* stops in its first round */
	assert_true(w.longest >= least);
	assert_int_equal(w.rounds, 4);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_pipelines_than_places),
		cmocka_unit_test(one_step_a_round),
		cmocka_unit_test(long_rounds_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
