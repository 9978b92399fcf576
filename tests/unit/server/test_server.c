/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole server: random traffic, good and bad, comes through as it must or is counted. */
#include "test_main.h"

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

#define OVER_IPV6 "core_ip: '2001:db8::1', rpd_ip: '2001:db8::2'"

static void open_with(const char *rphy) {
	char text[8192];

	snprintf(text, sizeof(text), "%srphy: {%s}\n", server_bench_text, rphy);
	server_bench_open(bench, text, 1024);
}

/* Below the rates of the channels, but for the slow one's small buffer. A port that takes one buffer a frame gets copies. */
TEST(random_traffic) {
	static const struct {
		const char *rphy;
		uint32_t most; /* packets a round */
		bool linear;
	} cases[] = {
		{"mtu: 1500, max_segments: 16", 6, false},
		{"mtu: 9000, max_segments: 100, flush: 200 us, " OVER_IPV6, 12, false},
		{"mtu: 1501, max_segments: 4", 6, true},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		open_with(cases[i].rphy);
		bench->linear = cases[i].linear;
		if (bench->linear)
			bench->group->downstream->lower.linear = bench->server.pools.packets;
		for (int round = 0; round < 1200; round++) {
			send_some(bench, random_below(&bench->random, cases[i].most + 1));
			server_bench_round(bench);
			server_bench_take(bench, random_below(&bench->random, 100));
			server_bench_clock(bench)->now += random_below(&bench->random, 40000);
		}
		server_bench_settle(bench);
		check_end(bench, true);
		server_bench_close(bench);
	}
}

/*
 * The smallest frames there are, 255 to a DEPI frame: the longest table of segments that there can
 * be must fit its buffer (checked where DEPI frames are read).
 */
TEST(longest_segment_table) {
	open_with("mtu: 9000, max_segments: 100, flush: 100 ms, " OVER_IPV6);
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

ALL_TESTS(NULL, fixture_stop)
