/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of all kinds of all groups, prepared, taken and retired in every order that the control thread can produce.
 *
 *     INTERLEAVING_SEED      begins with this seed (1)
 *     INTERLEAVING_SECONDS   goes on with the next seeds for so long (a few seeds)
 *     INTERLEAVING_THREADS   1: the workers are threads
 *     INTERLEAVING_VERBOSE   says why requests are refused
 */
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "world.h"

#include "test_main.h"

#define SEEDS 2
#define MANY_SEEDS 10 /* by then there was something of all kinds */
#define SETTLES 8 /* of a seed */
#define STEPS 150 /* before each */

static unsigned long asked(const char *name, unsigned long otherwise) {
	const char *text = getenv(name);

	return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

/* Adds up what was done. */
static struct world storage, *const world = &storage;
static unsigned taken[OP_KINDS], refused[OP_KINDS], overlaps;

static bool inside; /* of a seed: its threads run */

static void one_seed(uint32_t seed, bool threads) {
	inside = threads;
	world_open(world, seed, threads);
	for (unsigned s = 0; s < SETTLES; s++) {
		for (unsigned i = 0; i < STEPS; i++)
			world_step(world);
		world_settle(world);
	}
	for (unsigned k = 0; k < OP_KINDS; k++) {
		taken[k] += world->taken[k];
		refused[k] += world->refused[k];
	}
	overlaps += world->overlaps;
	world_close(world);
	inside = false;
}

TEST(interleavings) {
	unsigned long first = asked("INTERLEAVING_SEED", 1), seed = first;
	unsigned long seconds = asked("INTERLEAVING_SECONDS", 0);
	bool threads = asked("INTERLEAVING_THREADS", 0) != 0;
	time_t end = time(NULL) + (time_t)seconds;

	do {
		printf("seed %lu\n", seed);
		fflush(stdout);
		one_seed((uint32_t)seed, threads);
		seed++;
	} while (seed < first + SEEDS || time(NULL) < end);
	for (unsigned k = 0; k < OP_KINDS; k++) {
		printf("kind %u: %u done, %u refused\n", k, taken[k], refused[k]);
		assert_true(taken[k] > 0 || seed - first < MANY_SEEDS);
	}
	printf("%u taken beside others\n", overlaps);
	assert_true(overlaps > 0);
}

/* Where a seed has failed, its threads still run. */
static int stop(void **state) {
	if (inside) {
		fflush(stdout);
		_exit(EXIT_FAILURE);
	}
	return fixture_stop(state);
}

ALL_TESTS(NULL, stop)
