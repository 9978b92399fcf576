/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepares, applies and retires changes of all kinds and groups in random orders that the control
 * thread can produce. Server and model (server_simulation.h) must stay equal. Environment variables:
 *
 *     INTERLEAVING_SEED      first seed (1)
 *     INTERLEAVING_SECONDS   continues with further seeds for this time (0)
 *     INTERLEAVING_THREADS   1: the workers are threads
 *     INTERLEAVING_VERBOSE   prints why requests are refused
 */
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "server_simulation.h"

#include "test_main.h"

#define SEEDS 2
#define MANY_SEEDS 10 /* these must contain all kinds of operations */
#define SETTLES 8 /* comparisons with the model per seed */
#define STEPS 150 /* before each comparison */

static unsigned long read_number(const char *name, unsigned long fallback) {
	const char *text = getenv(name);

	return text != NULL ? strtoul(text, NULL, 10) : fallback;
}

static struct simulation storage, *const simulation = &storage;
static unsigned accepted[OP_KINDS], refused[OP_KINDS], overlaps; /* sums of all seeds */

static bool threads_running;

static void run_seed(uint32_t seed, bool threads) {
	threads_running = threads;
	sim_open(simulation, seed, threads);
	for (unsigned s = 0; s < SETTLES; s++) {
		for (unsigned i = 0; i < STEPS; i++)
			sim_step(simulation);
		sim_settle(simulation);
	}
	for (unsigned k = 0; k < OP_KINDS; k++) {
		accepted[k] += simulation->accepted[k];
		refused[k] += simulation->refused[k];
	}
	overlaps += simulation->overlaps;
	sim_close(simulation);
	threads_running = false;
}

TEST(server_matches_model_after_interleaved_changes) {
	unsigned long first = read_number("INTERLEAVING_SEED", 1), seed = first;
	unsigned long seconds = read_number("INTERLEAVING_SECONDS", 0);
	bool threads = read_number("INTERLEAVING_THREADS", 0) != 0;
	time_t end = time(NULL) + (time_t)seconds;

	do {
		printf("seed %lu\n", seed);
		fflush(stdout);
		run_seed((uint32_t)seed, threads);
		seed++;
	} while (seed < first + SEEDS || time(NULL) < end);
	for (unsigned k = 0; k < OP_KINDS; k++) {
		printf("operation %u: %u accepted, %u refused\n", k, accepted[k], refused[k]);
		assert_true(accepted[k] > 0 || seed - first < MANY_SEEDS);
	}
	printf("%u changes applied while others were retiring\n", overlaps);
	assert_true(overlaps > 0);
}

/* After a failure, threads still run: ends the process at once. */
static int stop_tests(void **state) {
	if (threads_running) {
		fflush(stdout);
		_exit(EXIT_FAILURE);
	}
	return fixture_stop(state);
}

ALL_TESTS(NULL, stop_tests)
