/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole server whose R-PHY port takes nothing: packets wait in the scheduler and are dropped
 * there and nowhere else; when the port takes again they all go out; a stop accounts for the rest. And what is counted
 * where all goes out.
 */
#include "test_main.h"

#include <rte_ethdev.h>

#include "downstream/stages.h"

#include "fixture.h"
#include "scheduler/report.h"
#include "server_bench.h"

#define RPHY_DEPTH 64 /* one less fits */
#define PACKETS 40

static struct server_bench storage, *const bench = &storage;

static void bench_open(const char *more, unsigned depth) {
	char text[8192];

	snprintf(text, sizeof(text), "%srphy: {mtu: 1500, max_segments: 16}\n%s", server_bench_text,
		 more);
	server_bench_open(bench, text, depth);
}

/* Small packets to the modem with the large buffer, some large ones to one with a small buffer. */
static void fill(struct server_bench *b, int rounds) {
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 60; i++)
			server_bench_good(b, 3, 0, 60);
		server_bench_good(b, 2, 0, 1500);
		server_bench_round(b);
		server_bench_clock(b)->now += 20000;
	}
}

/* What waits behind the scheduler is bounded. */
static void check_lower(const struct server_bench *b) {
	const struct ds_lower *l = &b->group->downstream->lower;

	assert_in_range(l->crypto->held + l->waiting_packets, 0, DS_LOWER_LIMIT + PIPELINE_BURST);
}

TEST(waits_in_the_scheduler) {
	struct counters c;
	uint64_t held;

	bench_open("", RPHY_DEPTH);
	fill(bench, 250);
	check_lower(bench);
	c = server_bench_counters(bench);
	assert_true(c.drops[DROP_FLOW_BUFFER_FULL] > 0); /* modem 2 */
	assert_int_equal(c.drops[DROP_SCHEDULER_FULL], 0);
	assert_true(c.values[COUNTER_TRANSMIT_RETRIES] > 0);
	fill(bench, 300);
	check_lower(bench);
	c = server_bench_counters(bench);
	assert_true(c.drops[DROP_SCHEDULER_FULL] > 0);
	assert_int_equal(counters_dropped(&c),
			 c.drops[DROP_FLOW_BUFFER_FULL] + c.drops[DROP_SCHEDULER_FULL]);
	/* nothing has been read: what was transmitted stands in the port */
	held = downstream_held(bench->group->downstream);
	assert_int_equal(c.values[COUNTER_RECEIVED] - counters_dropped(&c),
			 c.values[COUNTER_TRANSMITTED] + held);
	assert_true(held > 16384);

	server_bench_settle(bench);
	c = server_bench_counters(bench);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], bench->back);
	assert_int_equal(bench->back + counters_dropped(&c), bench->injected);
	for (unsigned i = 0; i < BENCH_CHANNELS; i++)
		assert_int_equal(bench->readers[i].cut_off + bench->readers[i].open, 0);
	server_bench_close(bench);
}

/* Blocked and free by turns; nothing is lost on the way, and each packet comes once, in order. */
TEST(stutters) {
	struct counters c;

	bench_open("", RPHY_DEPTH);
	for (int turn = 0; turn < 20; turn++) {
		fill(bench, 20);
		check_lower(bench);
		for (int i = 0; i < 10; i++) {
			server_bench_take(bench, random_below(&bench->random, 60));
			server_bench_round(bench);
			check_lower(bench);
		}
	}
	server_bench_settle(bench);
	c = server_bench_counters(bench);
	assert_int_equal(bench->back + c.drops[DROP_FLOW_BUFFER_FULL], bench->injected);
	server_bench_close(bench);
}

static void submit_burst(struct ds_lower *l) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = ds_take_over(l, pkts, 0);

	n = ds_frame(l, pkts, n);
	ds_encrypt_submit(l, pkts, n);
	assert_true(n > 0);
}

/* With packets everywhere: queues, ring, crypto device, open DEPI frames, line to the port. */
TEST(stop_accounts_for_all) {
	struct downstream *d;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct counters before, after;
	uint64_t held;
	uint16_t n;

	bench_open("", RPHY_DEPTH);
	fill(bench, 300);
	d = bench->group->downstream;
	/* make a little room behind the ring; one burst goes as far as an open DEPI frame ... */
	server_bench_take(bench, 32);
	ds_transmit(&d->lower, pkts, 0);
	submit_burst(&d->lower);
	n = ds_encrypt_collect(&d->lower, pkts, 0);
	n = ds_depi(&d->lower, pkts, n);
	ds_transmit(&d->lower, pkts, n);
	/* ... and one is left in the crypto device */
	submit_burst(&d->lower);
	before = server_bench_counters(bench);
	held = downstream_held(d);
	assert_true(scheduler_held(d->upper.scheduler) > 0);
	assert_true(rte_ring_count(d->lower.from_upper) > 0);
	assert_true(d->lower.crypto->held > 0);
	assert_true(d->lower.waiting_count > 0);
	assert_true(d->lower.depi.ends_open > 0);
	assert_int_equal(before.values[COUNTER_RECEIVED],
			 before.values[COUNTER_TRANSMITTED] + counters_dropped(&before) + held);
	downstream_stop(d);
	after = server_bench_counters(bench);
	assert_int_equal(downstream_held(d), 0);
	assert_int_equal(after.drops[DROP_STOPPED], held);
	assert_int_equal(after.values[COUNTER_RECEIVED],
			 after.values[COUNTER_TRANSMITTED] + counters_dropped(&after));
	downstream_stop(d); /* nothing more */
	assert_int_equal(server_bench_counters(bench).drops[DROP_STOPPED], held);
	/* the first packets were cut where the stop came; those that count as sent are whole */
	server_bench_take(bench, UINT32_MAX);
	assert_int_equal(after.values[COUNTER_TRANSMITTED], bench->back);
	server_bench_close(bench);
}

/* A port that takes no chains, and fewer buffers for copies than frames: all packets of a frame are lost. */
TEST(no_buffer_for_a_copy) {
	struct rte_mempool *copies;
	struct counters c;

	bench_open("", 1024);
	copies = fixture_pool("copies", 3, FIXTURE_ROOM);
	bench->group->downstream->lower.linear = copies;
	for (unsigned i = 0; i < 30; i++)
		server_bench_good(bench, 3, 0, 300);
	for (unsigned i = 0; i < 20; i++) {
		server_bench_round(bench);
		server_bench_clock(bench)->now += 20000;
	}
	c = server_bench_counters(bench);
	assert_int_equal(server_bench_take(bench, UINT32_MAX), 3);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], bench->back);
	assert_int_equal(c.drops[DROP_NO_BUFFER], bench->injected - bench->back);
	bench->group->downstream->lower.linear = NULL;
	fixture_pool_end(copies);
	server_bench_close(bench);
}

/* MULPI, annex C.2.2: rates count from the byte behind the HCS to the end of the CRC. */
static uint64_t scheduled_bytes(const struct downstream *d) {
	uint64_t bytes = 0;

	for (uint32_t f = 0; f < d->tables.flow_count; f++) {
		struct scheduler_flow_report r;

		scheduler_report_flow(d->upper.scheduler, f, &r);
		bytes += r.bytes;
	}
	return bytes;
}

/* A packet in several buffers, for nobody, which counts with all of its bytes. Returns how many. */
static uint64_t inject_chain(void) {
	static const uint8_t zeros[900];
	struct rte_mempool *packets = bench->server.pools.packets;
	struct rte_mbuf *m = fixture_packet(packets, zeros, 100);

	assert_int_equal(rte_pktmbuf_chain(m, fixture_packet(packets, zeros, 900)), 0);
	assert_int_equal(rte_eth_tx_burst(bench->network, 0, &m, 1), 1);
	bench->injected++;
	return 1000;
}

TEST(bytes_are_those_of_the_packets) {
	struct counters c;
	uint64_t sent = 0, bytes;

	bench_open("", 1024);
	for (unsigned i = 0; i < PACKETS; i++)
		server_bench_good(bench, (uint8_t)(i % 2), 0, 60 + 7 * i);
	bytes = inject_chain();
	server_bench_round(bench);
	server_bench_settle(bench);
	for (unsigned i = 0; i < PACKETS; i++)
		sent += bench->sent[i].size;
	c = server_bench_counters(bench);
	assert_int_equal(c.values[COUNTER_RECEIVED], PACKETS + 1);
	assert_int_equal(c.values[COUNTER_RECEIVED_BYTES], sent + bytes);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], PACKETS);
	assert_int_equal(scheduled_bytes(bench->group->downstream),
			 sent + (uint64_t)PACKETS * RTE_ETHER_CRC_LEN);
	/* the last row of a list leaves nothing */
	assert_int_equal(ds_hand_over(&bench->group->downstream->upper, NULL, 0), 0);
	server_bench_close(bench);
}

/* What the crypto provider does to frames of each cipher. */
TEST(parts_are_those_that_are_wanted) {
	for (unsigned crc = 0; crc < 2; crc++) {
		bench_open(crc ? "crypto: {generate_crc: true}\n"
			       : "crypto: {generate_crc: false}\n",
			   1024);
		for (enum cipher k = CIPHER_NONE; k < CIPHERS; k++)
			assert_int_equal(bench->group->downstream->lower.crypto_parts[k],
					 (crc ? CRYPTO_CRC : 0) |
						 (k == CIPHER_NONE ? 0 : CRYPTO_CIPHER));
		server_bench_close(bench);
	}
}

ALL_TESTS(NULL, fixture_stop)
