/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the latencies that the downstream measures with those that the test sees with a
 * simulated clock, from reception of a packet to transmission of its last byte. */
#include "messages_kit.h"

#include "server/measure.h"

#include "sorted_times.h"

#define ROUND_NS 20000
#define DEPTH 1024

static uint64_t arrived_at[GROUP_KIT_PACKETS]; /* ns, by serial number */
static uint64_t arrived; /* number of packets in arrived_at */
static uint64_t times[GROUP_KIT_PACKETS]; /* latencies that the test sees, ns */

static struct latency *latency(void) {
	return &kit->group->downstream->latency;
}

static void open_measured(bool linear, unsigned rphy_depth) {
	open_server("", rphy_depth);
	if (linear)
		kit->group->downstream->lower.linear = kit->server.pools.packets;
	kit->linear = linear;
	advance_clock(ROUND_NS);
	latency_simulate(latency(), &group_kit_clock(kit)->now);
	assert_int_equal(server_latency(&kit->server, true), 0);
	arrived = 0;
}

/* Runs a round. Packets that it receives arrive now. */
static void run_round(void) {
	uint64_t received;

	group_kit_round(kit);
	received = group_kit_counters(kit).values[COUNTER_RECEIVED];
	for (; arrived < received; arrived++)
		arrived_at[arrived] = group_kit_clock(kit)->now;
}

static void run_rounds(unsigned n) {
	for (; n > 0; n--) {
		run_round();
		group_kit_receive(kit, UINT32_MAX);
		advance_clock(ROUND_NS);
	}
}

/* Checks that all transmitted packets were measured correctly. */
static void check_all(void) {
	size_t count = 0;

	latency_collect(latency());
	for (uint32_t i = 0; i < kit->serial; i++) {
		if (kit->sent[i].received)
			times[count++] = kit->sent[i].received_at - arrived_at[i];
	}
	assert_percentiles_of(latency()->whole, times, count);
}

/* Sends random packets, split and chained in DEPI frames; some are dropped. */
static void random_traffic(bool linear) {
	open_measured(linear, DEPTH);
	for (int i = 0; i < 3000; i++) {
		for (uint32_t n = random_below(&kit->random, 8); n > 0; n--) {
			uint8_t modem = (uint8_t)random_below(&kit->random, GROUP_KIT_MODEMS);

			if (random_below(&kit->random, 8) == 0)
				group_kit_send_bad(kit);
			else
				group_kit_send_good(kit, modem, 0,
						    random_between(&kit->random, 60, 1900));
		}
		run_rounds(1);
	}
	run_rounds(2000);
	assert_true(kit->received > 5000);
	assert_int_equal(downstream_pending(kit->group->downstream), 0);
	check_all();
	group_kit_close(kit);
}

TEST(latency_of_chained_and_copied_frames_matches) {
	random_traffic(false);
	random_traffic(true);
}

/* The port is blocked for a known time, often enough that the queue of arrival times wraps. */
TEST(latency_includes_time_of_blocked_port) {
	open_measured(false, 8);
	for (int n = 0; n < 100; n++) {
		for (unsigned i = 0; i < 50; i++)
			group_kit_send_good(kit, 3, 0, 500);
		for (int i = 0; i < 50; i++) {
			run_round(); /* fills the port */
			advance_clock(ROUND_NS);
		}
		for (int i = 0; i < 30; i++) {
			group_kit_receive(kit, UINT32_MAX);
			run_round();
		}
		run_rounds(20);
	}
	latency_collect(latency());
	assert_int_equal(latency()->whole->total_count, kit->received);
	assert_int_equal(kit->received, kit->injected);
	/* most packets of an iteration waited for as long as the port was blocked */
	assert_near(percentiles_us(latency()->whole).p90, 50 * ROUND_NS / 1e3);
	group_kit_close(kit);
}

/* Packets pending when measurement is switched on are not measured. */
TEST(only_packets_received_while_on_are_measured) {
	open_measured(false, DEPTH);
	assert_int_equal(server_latency(&kit->server, false), 0);
	for (unsigned i = 0; i < 10; i++)
		group_kit_send_good(kit, 2, 0, 1000);
	run_rounds(5);
	assert_true(kit->received < 10);
	for (int on = 1; on >= 0; on--) {
		assert_int_equal(server_latency(&kit->server, on), 0);
		group_kit_send_good(kit, 2, 0, 1000);
		run_rounds(200);
		latency_collect(latency());
		assert_int_equal(latency()->whole->total_count, 1);
	}
	assert_int_equal(kit->received, 12);
	group_kit_close(kit);
}
