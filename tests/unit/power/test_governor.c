/* SPDX-License-Identifier: BSD-3-Clause */
/* What a latency allows, and what the model of test_governor_random.c does not have: domains, other clocks and policies. */
#include "test_main.h"

#include <string.h>

#include "governor_kit.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define LATENCY (200 * US)

static struct governor g;
static struct governor_reading reading;
static uint64_t now;

static const unsigned one_domain[] = {0, 0, 0, 0};

static void start(const struct governor_policy *policy) {
	memset(&g, 0, sizeof(g));
	memset(&reading, 0, sizeof(reading));
	now = 5 * MS;
	g.domains[0].range = kit_range;
	governor_start(&g, policy, LATENCY, one_domain, 1, 1);
	governor_step(&g, now, &reading);
	assert_int_equal(g.domains[0].khz, kit_range.max_khz);
}

/* A look later, in which packets took `percent` of the time. */
static uint32_t look(unsigned percent) {
	now += g.look_ns;
	kit_work(&reading, g.look_ns, percent);
	governor_step(&g, now, &reading);
	return g.domains[0].khz;
}

/* As long as it takes. */
static void slow_down(void) {
	for (unsigned i = 0; i < 1000 && look(0) > g.domains[0].floor_khz; i++)
		;
	assert_int_equal(g.domains[0].khz, g.domains[0].floor_khz);
	assert_true(g.domains[0].floor_khz < kit_range.max_khz);
	for (unsigned i = 0; i < 5; i++)
		look(0);
}

TEST(rounds_up) {
	const struct governor_range any = {.min_khz = 850000, .max_khz = 2550000};

	assert_int_equal(governor_round(&kit_range, 0), 800000);
	assert_int_equal(governor_round(&kit_range, 800001), 1000000);
	assert_int_equal(governor_round(&kit_range, 1000000), 1000000);
	assert_int_equal(governor_round(&kit_range, UINT32_MAX), 1800000);
	assert_int_equal(governor_round(&any, 1), 850000);
	assert_int_equal(governor_round(&any, 1000001), 1100000);
	assert_int_equal(governor_round(&any, 2500001), 2550000);
}

/* By hand: at 0.8 of 1.8 GHz five ninths of what comes in T wait; 100 us allow 180 us. */
TEST(latency_sets_floor_and_pace) {
	struct governor_range r = kit_range;

	r.transition_ns = 30 * US;
	assert_int_equal(governor_look(&r, 1 * MS), (1800 - 30) * US / 3);
	assert_int_equal(governor_look(&r, 100 * US),
			 100 * US); /* a third of 150 us is too often */
	assert_int_equal(governor_look(&r, 10 * MS), 1 * MS);
	/* T is 330 us: 1 - 100 / 330 of 1.8 GHz is 1.255, 1.4 the next state */
	assert_int_equal(governor_floor(&r, 100 * US, 100 * US), 1400000);
	assert_int_equal(governor_floor(&r, 200 * US, 100 * US), 800000);
	assert_int_equal(governor_floor(&r, 0, 100 * US), 1800000);
	assert_int_equal(governor_floor(&r, UINT64_MAX, 1 * MS), 800000);
	r.transition_ns = UINT64_MAX; /* a driver that tells nonsense */
	assert_int_equal(governor_floor(&r, 100 * US, 100 * US), 1800000);
	/* limits that contradict each other: the maximum */
	r = (struct governor_range){.min_khz = 2000000, .max_khz = 1000000};
	assert_int_equal(governor_floor(&r, 10 * MS, 1 * MS), 1000000);
	assert_int_equal(governor_round(&r, 1), 1000000);
}

TEST(a_clock_that_stands_is_the_maximum) {
	start(&governor_saving);
	slow_down();
	governor_step(&g, now, &reading);
	assert_int_equal(g.domains[0].khz, kit_range.max_khz);
	assert_int_equal(g.stopped, 1);
	slow_down();
	now -= 3 * MS; /* or goes back */
	governor_step(&g, now, &reading);
	assert_int_equal(g.domains[0].khz, kit_range.max_khz);
	assert_int_equal(g.stopped, 2);
	slow_down();
	assert_int_equal(g.stopped, 2);
}

TEST(performance_is_the_maximum) {
	start(&governor_performance);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(look(0), kit_range.max_khz);
	assert_int_equal(g.domains[0].transitions, 0);
	governor_change(&g, &governor_saving, LATENCY);
	slow_down();
	governor_change(&g, &governor_performance, LATENCY);
	assert_int_equal(look(0), kit_range.max_khz);
}

TEST(the_highest_wish_of_a_domain_wins) {
	static const unsigned domain_of[] = {0, 1, 0, 1};
	struct governor_reading r[4] = {0};

	memset(&g, 0, sizeof(g));
	g.domains[0].range = g.domains[1].range = kit_range;
	governor_start(&g, &governor_saving, LATENCY, domain_of, 4, 2);
	for (now = MS; now < 100 * MS; now += g.look_ns) {
		unsigned needs = 50 * 1800000u / g.domains[0].khz; /* half of the fastest */

		for (unsigned w = 0; w < 4; w++)
			kit_work(&r[w], g.look_ns, w == 2 ? needs : 5);
		governor_step(&g, now, r);
	}
	assert_int_equal(g.domains[0].khz, 1200000);
	assert_int_equal(g.domains[1].khz, g.domains[1].floor_khz);
	for (unsigned w = 0; w < 4; w++)
		kit_work(&r[w], g.look_ns, 5);
	r[3].full_polls += 2;
	governor_step(&g, now, r);
	assert_int_equal(g.domains[1].khz, kit_range.max_khz);
	assert_true(g.domains[0].khz < kit_range.max_khz);
}

TEST(blind_it_goes_step_by_step) {
	start(&governor_saving);
	slow_down();
	g.blind = true;
	reading.full_polls += 50;
	assert_int_equal(look(100), 1000000);
	look(100); /* not settled */
	assert_int_equal(g.domains[0].jumps, 0);
	assert_true(g.domains[0].khz < kit_range.max_khz);
}
