/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the pipeline tells of its downstream is what is seen from outside: each packet is known when it
 * comes in and when its last byte comes out, in a simulated clock.
 */
#include "messages_kit.h"

#include "server/measure.h"

#include "sorted_times.h"

#define ROUND_NS 20000
#define DEPTH 1024

static uint64_t arrived_at[BENCH_PACKETS]; /* ns, by serial number */
static uint64_t noted; /* packets of these */
static uint64_t times[BENCH_PACKETS]; /* seen from outside, sorted */

static struct latency *latency(void) {
	return &bench->group->downstream->latency;
}

static void open_measured(bool linear, unsigned rphy_depth) {
	bench_open("", rphy_depth);
	if (linear)
		bench->group->downstream->lower.linear = bench->server.pools.packets;
	bench->linear = linear;
	pass_time(ROUND_NS);
	latency_simulate(latency(), &group_kit_clock(bench)->now);
	assert_int_equal(server_latency(&bench->server, true), 0);
	noted = 0;
}

/* A round; what came in with it came now. */
static void run_round(void) {
	uint64_t received;

	group_kit_round(bench);
	received = group_kit_counters(bench).values[COUNTER_RECEIVED];
	for (; noted < received; noted++)
		arrived_at[noted] = group_kit_clock(bench)->now;
}

static void run_rounds(unsigned n) {
	for (; n > 0; n--) {
		run_round();
		group_kit_take(bench, UINT32_MAX);
		pass_time(ROUND_NS);
	}
}

/* Every packet that came out was recorded, with the time that it took from outside. */
static void check_all(void) {
	size_t count = 0;

	latency_collect(latency());
	for (uint32_t i = 0; i < bench->serial; i++) {
		if (bench->sent[i].back)
			times[count++] = bench->sent[i].back_at - arrived_at[i];
	}
	assert_percentiles_of(latency()->whole, times, count);
}

/* Random packets, cut and chained as they come; some are dropped. */
static void random_traffic(bool linear) {
	open_measured(linear, DEPTH);
	for (int i = 0; i < 3000; i++) {
		for (uint32_t n = random_below(&bench->random, 8); n > 0; n--) {
			uint8_t modem = (uint8_t)random_below(&bench->random, BENCH_MODEMS);

			if (random_below(&bench->random, 8) == 0)
				group_kit_bad(bench);
			else
				group_kit_good(bench, modem, 0,
					       random_between(&bench->random, 60, 1900));
		}
		run_rounds(1);
	}
	run_rounds(2000);
	assert_true(bench->back > 5000);
	assert_int_equal(downstream_pending(bench->group->downstream), 0);
	check_all();
	group_kit_close(bench);
}

TEST(chained_and_linear_frames) {
	random_traffic(false);
	random_traffic(true);
}

/* The port takes nothing for a known time, again and again: the line goes round. */
TEST(a_port_that_is_blocked_shows) {
	open_measured(false, 8);
	for (int turn = 0; turn < 100; turn++) {
		for (unsigned i = 0; i < 50; i++)
			group_kit_good(bench, 3, 0, 500);
		for (int i = 0; i < 50; i++) {
			run_round(); /* until the port is full */
			pass_time(ROUND_NS);
		}
		for (int i = 0; i < 30; i++) {
			group_kit_take(bench, UINT32_MAX);
			run_round();
		}
		run_rounds(20);
	}
	latency_collect(latency());
	assert_int_equal(latency()->whole->total_count, bench->back);
	assert_int_equal(bench->back, bench->injected);
	/* Most packets of a turn had to wait for as long as the port was full. */
	assert_near(percentiles_us(latency()->whole).p90, 50 * ROUND_NS / 1e3);
	group_kit_close(bench);
}

/* Those in the pipeline when it is switched on have no time; those that come out later have, until it is switched off. */
TEST(switched_on_and_off) {
	open_measured(false, DEPTH);
	assert_int_equal(server_latency(&bench->server, false), 0);
	for (unsigned i = 0; i < 10; i++)
		group_kit_good(bench, 2, 0, 1000);
	run_rounds(5);
	assert_true(bench->back < 10);
	for (int on = 1; on >= 0; on--) {
		assert_int_equal(server_latency(&bench->server, on), 0);
		group_kit_good(bench, 2, 0, 1000);
		run_rounds(200);
		latency_collect(latency());
		assert_int_equal(latency()->whole->total_count, 1);
	}
	assert_int_equal(bench->back, 12);
	group_kit_close(bench);
}
