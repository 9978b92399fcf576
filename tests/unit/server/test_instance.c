/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole instance: random traffic, good and bad, comes through as it must or is counted. */
#include "test.h"

#include "model/loader.h"
#include "platform/port.h"

#include "fixture.h"
#include "instance_bench.h"
#include "packets.h"

static struct instance_bench storage, *const bench = &storage;

static void send_some(struct instance_bench *b, uint32_t n) {
	static const uint8_t addresses[BENCH_MODEMS] = {2, 2, 1, 1};

	for (; n > 0; n--) {
		uint8_t modem = (uint8_t)random_below(&b->random, BENCH_MODEMS);
		size_t size = random_below(&b->random, 2) ? random_between(&b->random, 14, 200)
							  : random_between(&b->random, 200, 1996);

		if (random_below(&b->random, 4) == 0)
			instance_bench_bad(b);
		else if (random_below(&b->random, 8) == 0)
			instance_bench_good(b, modem, BENCH_LLC, size);
		else
			instance_bench_good(b, modem,
					    (uint8_t)random_below(&b->random, addresses[modem]),
					    size);
	}
}

/* Everything that went in came out or was dropped for the reason that it was made for. */
static void check_end(const struct instance_bench *b, bool losses) {
	struct counters c = instance_bench_counters(b);
	uint64_t full = c.drops[DROP_FLOW_BUFFER_FULL] + c.drops[DROP_SCHEDULER_FULL];

	assert_int_equal(c.values[COUNTER_RECEIVED], b->injected);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], b->back);
	assert_int_equal(c.values[COUNTER_DEPI_FRAMES], b->depi_frames);
	for (unsigned i = 0; i < DROP_REASONS; i++) {
		if (i != DROP_FLOW_BUFFER_FULL && i != DROP_SCHEDULER_FULL &&
		    c.drops[i] != b->expected_drops[i])
			fail_msg("%s: %lu, expected %lu", drop_name((enum drop_reason)i),
				 c.drops[i], b->expected_drops[i]);
	}
	assert_int_equal(full > 0, losses);
	assert_int_equal(c.values[COUNTER_ENCRYPTED] + c.values[COUNTER_CLEAR], b->back);
	for (unsigned i = 0; i < BENCH_CHANNELS; i++)
		assert_int_equal(b->readers[i].cut_off + b->readers[i].open, 0);
}

static void run(const char *text, uint32_t most_a_round, bool linear) {
	instance_bench_open(bench, text, 1024);
	if (linear)
		bench->instance.downstream->lower.linear = bench->instance.packets;
	bench->linear = linear;
	for (int round = 0; round < 1200; round++) {
		send_some(bench, random_below(&bench->random, most_a_round + 1));
		instance_bench_round(bench);
		instance_bench_take(bench, random_below(&bench->random, 100));
		instance_bench_clock(bench)->now += random_below(&bench->random, 40000);
	}
	instance_bench_settle(bench);
	check_end(bench, true);
	instance_bench_close(bench);
}

/* Below the rates of the channels, but for the slow one's small buffer. */
static void random_traffic(void **state) {
	char text[8192];

	(void)state;
	snprintf(text, sizeof(text), "%srphy: {mtu: 1500, max_segments: 16}\n",
		 instance_bench_text);
	run(text, 6, false);
}

static void random_traffic_over_ipv6_and_jumbo_frames(void **state) {
	char text[8192];

	(void)state;
	snprintf(text, sizeof(text),
		 "%srphy: {mtu: 9000, max_segments: 255, flush: 200 us, core_ip: '2001:db8::1', "
		 "rpd_ip: '2001:db8::2'}\n",
		 instance_bench_text);
	run(text, 12, false);
}

/* A port that takes one buffer a frame gets copies. */
static void random_traffic_without_chains(void **state) {
	char text[8192];

	(void)state;
	snprintf(text, sizeof(text), "%srphy: {mtu: 1501, max_segments: 4}\n", instance_bench_text);
	run(text, 6, true);
}

/*
 * The smallest frames there are, 255 to a DEPI frame: the longest table of segments that there can
 * be must fit its buffer (checked where DEPI frames are read).
 */
static void longest_segment_table(void **state) {
	char text[8192];

	(void)state;
	snprintf(text, sizeof(text),
		 "%srphy: {mtu: 9000, max_segments: 255, flush: 100 ms, core_ip: '2001:db8::1', "
		 "rpd_ip: '2001:db8::2'}\n",
		 instance_bench_text);
	instance_bench_open(bench, text, 1024);
	for (int i = 0; i < 255; i++) {
		instance_bench_good(bench, 1, BENCH_LLC, 14);
		instance_bench_round(bench);
	}
	instance_bench_settle(bench);
	assert_int_equal(bench->readers[0].packets, 1);
	assert_int_equal(bench->readers[0].segments, 255);
	check_end(bench, false);
	instance_bench_close(bench);
}

/* Where a worker has fewer places left than the group needs, the group is refused, and freed. */
static void no_place_on_the_worker(void **state) {
	struct instance *i = &bench->instance;
	uint16_t network[2], rphy[2];
	struct pipeline others = {0};

	(void)state;
	memset(bench, 0, sizeof(*bench));
	group_load(&bench->sg, instance_bench_text);
	for (unsigned left = 0; left < DS_PIPELINES; left++) {
		char name[2][32];

		snprintf(name[0], sizeof(name[0]), "full_network%u", left);
		snprintf(name[1], sizeof(name[1]), "full_rphy%u", left);
		assert_int_equal(instance_pools(i, &bench->sg), 0);
		assert_int_equal(port_pair(name[0], i->packets, 64, network), 0);
		assert_int_equal(port_pair(name[1], i->packets, 64, rphy), 0);
		while (i->workers[0].pipeline_count < WORKER_MAX_PIPELINES - left)
			assert_int_equal(worker_add(&i->workers[0], &others), 0);
		assert_int_equal(instance_create(i, network[1], rphy[1]), -1);
		port_close(network[0]);
		port_close(rphy[0]);
		instance_free(i);
	}
	service_group_free(&bench->sg);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traffic),
		cmocka_unit_test(random_traffic_over_ipv6_and_jumbo_frames),
		cmocka_unit_test(random_traffic_without_chains),
		cmocka_unit_test(longest_segment_table),
		cmocka_unit_test(no_place_on_the_worker),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
