/* SPDX-License-Identifier: BSD-3-Clause */
/* A task between two rounds of a worker that runs. */
#include "test.h"

#include <pthread.h>

#include "worker.h"

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
	worker_add(&worker, &pipeline);
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

int main(void) {
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_step_a_round)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
