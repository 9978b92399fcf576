/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole server: random traffic, good and bad, comes through as it must or is counted. */
#include "test.h"

#include "model/load/loader.h"
#include "platform/port.h"

#include "fixture.h"
#include "packets.h"
#include "server_bench.h"

static struct server_bench storage, *const bench = &storage;

static void send_some(struct server_bench *b, uint32_t n) {
	static const uint8_t addresses[BENCH_MODEMS] = {2, 2, 1, 1};

	for (; n > 0; n--) {
		uint8_t modem = (uint8_t)random_below(&b->random, BENCH_MODEMS);
		size_t size = random_below(&b->random, 2) ? random_between(&b->random, 14, 200)
							  : random_between(&b->random, 200, 1996);

		if (random_below(&b->random, 4) == 0)
			server_bench_bad(b);
		else if (random_below(&b->random, 8) == 0)
			server_bench_good(b, modem, BENCH_LLC, size);
		else
			server_bench_good(b, modem,
					  (uint8_t)random_below(&b->random, addresses[modem]),
					  size);
	}
}

/* Everything that went in came out or was dropped for the reason that it was made for. */
static void check_end(const struct server_bench *b, bool losses) {
	struct counters c = server_bench_counters(b);
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
	server_bench_open(bench, text, 1024);
	if (linear)
		bench->group->downstream->lower.linear = bench->server.pools.packets;
	bench->linear = linear;
	for (int round = 0; round < 1200; round++) {
		send_some(bench, random_below(&bench->random, most_a_round + 1));
		server_bench_round(bench);
		server_bench_take(bench, random_below(&bench->random, 100));
		server_bench_clock(bench)->now += random_below(&bench->random, 40000);
	}
	server_bench_settle(bench);
	check_end(bench, true);
	server_bench_close(bench);
}

/* Below the rates of the channels, but for the slow one's small buffer. */
static void random_traffic(void **state) {
	char text[8192];

	(void)state;
	snprintf(text, sizeof(text), "%srphy: {mtu: 1500, max_segments: 16}\n", server_bench_text);
	run(text, 6, false);
}

static void random_traffic_over_ipv6_and_jumbo_frames(void **state) {
	char text[8192];

	(void)state;
	snprintf(text, sizeof(text),
		 "%srphy: {mtu: 9000, max_segments: 100, flush: 200 us, core_ip: '2001:db8::1', "
		 "rpd_ip: '2001:db8::2'}\n",
		 server_bench_text);
	run(text, 12, false);
}

/* A port that takes one buffer a frame gets copies. */
static void random_traffic_without_chains(void **state) {
	char text[8192];

	(void)state;
	snprintf(text, sizeof(text), "%srphy: {mtu: 1501, max_segments: 4}\n", server_bench_text);
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
		 "%srphy: {mtu: 9000, max_segments: 100, flush: 100 ms, core_ip: '2001:db8::1', "
		 "rpd_ip: '2001:db8::2'}\n",
		 server_bench_text);
	server_bench_open(bench, text, 1024);
	for (int i = 0; i < 100; i++) {
		server_bench_good(bench, 1, BENCH_LLC, 14);
		server_bench_round(bench);
	}
	server_bench_settle(bench);
	assert_int_equal(bench->readers[0].packets, 1);
	assert_int_equal(bench->readers[0].segments, 100);
	check_end(bench, false);
	server_bench_close(bench);
}

/* A start that comes to nothing in the middle is freed, and another one finds nothing of it. */
static void half_made(void **state) {
	struct server *s = &bench->server;
	uint16_t network[2], rphy[2];
	struct rte_ring *taken;

	(void)state;
	memset(bench, 0, sizeof(*bench));
	group_load(&bench->sg, server_bench_text);
	/* the name of the group's own ring */
	taken = rte_ring_create("hand_over_7", 64, SOCKET_ID_ANY, 0);
	assert_non_null(taken);
	assert_int_equal(server_create(s, lone_group_config(&bench->lone, &bench->sg)), 0);
	assert_int_equal(port_pair("half_network", s->pools.packets, 64, network), 0);
	assert_int_equal(port_pair("half_rphy", s->pools.packets, 64, rphy), 0);
	server_ports_give(&s->ports, 0, DEVICE_NETWORK, network[1]);
	server_ports_give(&s->ports, 0, DEVICE_RPHY, rphy[1]);
	assert_int_equal(server_serve(s), -1);
	port_close(network[0]);
	port_close(rphy[0]);
	server_free(s);
	assert_null(s->groups);
	assert_null(s->workers);
	assert_null(rte_mempool_lookup("packets"));
	assert_null(rte_mempool_lookup("dataplane_ops"));
	server_free(s); /* there is nothing to free any more */
	rte_ring_free(taken);
	service_group_free(&bench->sg);
	run(server_bench_text, 6, false);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traffic),
		cmocka_unit_test(random_traffic_over_ipv6_and_jumbo_frames),
		cmocka_unit_test(random_traffic_without_chains),
		cmocka_unit_test(longest_segment_table),
		cmocka_unit_test(half_made),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
