/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers on the lcores that EAL made for them: they begin, are waited for, and end. */
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

/* Each lets the other have its core once a round, as both may be on one. */
static uint16_t polite(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	sched_yield();
	return n;
}

static const struct stage stages[] = {{.name = "polite", .run = polite, .polls = true}};
static struct pipeline lists[WORKERS];

/* The first cores that may be used. */
static int start(void **state) {
	struct platform_options options = {
		.program = "unit-test", .main_core = PLATFORM_ANY_CORE, .memory_mb = 64};
	struct cpus cpus;

	cpus_here(&cpus);
	for (unsigned c = 0; c < CPU_SETSIZE && options.worker_count < WORKERS; c++) {
		if (CPU_ISSET(c, &cpus.usable))
			options.workers[options.worker_count++] = c;
	}
	while (options.worker_count < WORKERS) /* on one core */
		options.workers[options.worker_count++] = options.workers[0];
	return platform_start(&options);
}

static int stop(void **state) {
	platform_stop();
	return 0;
}

static uint64_t rounds_of(unsigned w) {
	return __atomic_load_n(&workers[w].rounds, __ATOMIC_RELAXED);
}

static void check_halted(uint64_t rounds[WORKERS]) {
	assert_false(server_runs(&server));
	for (unsigned w = 0; w < WORKERS; w++) {
		assert_int_equal(rte_eal_get_lcore_state(w + 1), WAIT);
		rounds[w] = rounds_of(w);
	}
}

TEST(launch_and_halt) {
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
			while (rounds_of(w) < rounds[w] + 10)
				usleep(100);
		}
		server_synchronize(&server);
		server_halt(&server);
		check_halted(rounds);
		server_synchronize(&server); /* at once */
	}
	for (unsigned w = 0; w < WORKERS; w++)
		worker_free(&workers[w]);
	server_quiet_free(&server);
}

ALL_TESTS(start, stop)
