/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests starting, synchronizing and stopping workers on lcores of EAL. */
#include "test_main.h"

#include <sched.h>
#include <unistd.h>

#include <rte_launch.h>

#include "platform/cpus.h"
#include "platform/platform.h"
#include "server/running.h"

#define WORKERS 2

static struct worker workers[WORKERS] = {{.name = "first"}, {.name = "second"}};
static struct server server = {.workers = workers, .worker_count = WORKERS};

/* A stage that yields the core once per round, as both workers may share one. */
static uint16_t yield_core(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	sched_yield();
	return n;
}

static const struct stage stages[] = {{.name = "yield", .run = yield_core, .polls = true}};
static struct pipeline lists[WORKERS];

/* Starts EAL with workers on the first usable cores. */
static int start_eal(void **state) {
	struct platform_options options = {
		.program = "unit-test", .main_core = PLATFORM_ANY_CORE, .memory_mb = 64};
	struct cpus cpus;

	cpus_read(&cpus);
	for (unsigned c = 0; c < CPU_SETSIZE && options.worker_count < WORKERS; c++) {
		if (CPU_ISSET(c, &cpus.usable))
			options.workers[options.worker_count++] = c;
	}
	while (options.worker_count < WORKERS) /* only one core is usable: share it */
		options.workers[options.worker_count++] = options.workers[0];
	return platform_start(&options);
}

static int stop_eal(void **state) {
	platform_stop();
	return 0;
}

static uint64_t read_rounds(unsigned w) {
	return __atomic_load_n(&workers[w].rounds, __ATOMIC_RELAXED);
}

static void check_halted(uint64_t rounds[WORKERS]) {
	assert_false(server_runs(&server));
	for (unsigned w = 0; w < WORKERS; w++) {
		assert_int_equal(rte_eal_get_lcore_state(w + 1), WAIT);
		rounds[w] = read_rounds(w);
	}
}

TEST(workers_run_between_launch_and_halt) {
	uint64_t rounds[WORKERS];

	for (unsigned w = 0; w < WORKERS; w++) {
		lists[w] = (struct pipeline){.stages = stages, .count = 1};
		assert_int_equal(worker_add(&workers[w], &lists[w]), 0);
	}
	assert_int_equal(server_quiet_create(&server), 0);
	check_halted(rounds);
	for (unsigned i = 0; i < 3; i++) {
		server_launch(&server);
		assert_true(server_runs(&server));
		for (unsigned w = 0; w < WORKERS; w++) {
			while (read_rounds(w) < rounds[w] + 10)
				usleep(100);
		}
		server_synchronize(&server);
		server_halt(&server);
		check_halted(rounds);
		server_synchronize(&server); /* returns at once */
	}
	for (unsigned w = 0; w < WORKERS; w++)
		worker_free(&workers[w]);
	server_quiet_free(&server);
}

ALL_TESTS(start_eal, stop_eal)
