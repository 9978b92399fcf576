/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole server whose R-PHY port takes nothing: packets wait in the scheduler and are dropped
 * there and nowhere else; when the port takes again they all go out; a stop accounts for the rest. And what is counted
 * where all goes out.
 */
#include "messages_kit.h"

#include "downstream/stages.h"
#include "server/measure.h"

#define PACKETS 40

/* Small packets to the modem with the large buffer, some large ones to one with a small buffer. */
static void fill(int rounds) {
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 60; i++)
			group_kit_good(bench, 3, 0, 60);
		group_kit_good(bench, 2, 0, 1500);
		group_kit_round(bench);
		pass_time(20000);
	}
}

/* What waits behind the scheduler is bounded. */
static void check_lower(void) {
	const struct ds_lower *l = &bench->group->downstream->lower;

	assert_in_range(l->crypto->pending + l->waiting_packets, 0,
			DS_LOWER_LIMIT + PIPELINE_BURST);
}

TEST(waits_in_the_scheduler) {
	struct counters c;
	uint64_t pending;

	bench_open("", RPHY_DEPTH);
	for (unsigned full = 0; full < 2; full++) {
		fill(full ? 300 : 250);
		check_lower();
		c = group_kit_counters(bench);
		assert_true(c.drops[DROP_FLOW_BUFFER_FULL] > 0); /* modem 2 */
		assert_int_equal(c.drops[DROP_SCHEDULER_FULL] > 0, full);
	}
	assert_true(c.values[COUNTER_TRANSMIT_RETRIES] > 0);
	assert_int_equal(counters_dropped(&c),
			 c.drops[DROP_FLOW_BUFFER_FULL] + c.drops[DROP_SCHEDULER_FULL]);
	/* nothing has been read: what was transmitted stands in the port */
	pending = downstream_pending(bench->group->downstream);
	assert_int_equal(c.values[COUNTER_RECEIVED] - counters_dropped(&c),
			 c.values[COUNTER_TRANSMITTED] + pending);
	assert_true(pending > 16384);
	/* blocked and free by turns: nothing is lost on the way, and each packet comes once, in order */
	for (int i = 0; i < 200; i++) {
		group_kit_take(bench, random_below(&bench->random, 60));
		group_kit_round(bench);
		check_lower();
	}
	group_kit_settle(bench);
	c = group_kit_counters(bench);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], bench->back);
	assert_int_equal(bench->back + counters_dropped(&c), bench->injected);
	for (unsigned i = 0; i < BENCH_CHANNELS; i++)
		assert_int_equal(bench->readers[i].cut_off + bench->readers[i].open, 0);
	group_kit_close(bench);
}

static void submit_burst(struct ds_lower *l) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = ds_take_over(l, pkts, 0);

	n = ds_frame(l, pkts, n);
	ds_encrypt_submit(l, pkts, n);
	assert_true(n > 0);
}

TEST(stop_accounts_for_all) {
	struct downstream *d;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct counters before, after;
	uint64_t pending;
	uint16_t n;

	bench_open("", RPHY_DEPTH);
	assert_int_equal(server_latency(&bench->server, true), 0);
	fill(300);
	d = bench->group->downstream;
	/* make a little room behind the ring; one burst goes as far as an open DEPI frame ... */
	group_kit_take(bench, 32);
	ds_transmit(&d->lower, pkts, 0);
	submit_burst(&d->lower);
	n = ds_encrypt_collect(&d->lower, pkts, 0);
	n = ds_depi(&d->lower, pkts, n);
	ds_transmit(&d->lower, pkts, n);
	/* ... and one is left in the crypto device */
	submit_burst(&d->lower);
	before = group_kit_counters(bench);
	pending = downstream_pending(d);
	assert_true(scheduler_queued(d->upper.scheduler) > 0);
	assert_true(rte_ring_count(d->lower.from_upper) > 0);
	assert_true(d->lower.crypto->pending > 0);
	assert_true(d->lower.waiting_count > 0);
	assert_true(d->lower.depi.ends_open > 0);
	assert_true(d->lower.arrivals.count > 0);
	assert_int_equal(before.values[COUNTER_RECEIVED],
			 before.values[COUNTER_TRANSMITTED] + counters_dropped(&before) + pending);
	downstream_stop(d);
	after = group_kit_counters(bench);
	assert_int_equal(downstream_pending(d), 0);
	assert_int_equal(d->lower.arrivals.count, 0);
	assert_int_equal(after.drops[DROP_STOPPED], pending);
	assert_int_equal(after.values[COUNTER_RECEIVED],
			 after.values[COUNTER_TRANSMITTED] + counters_dropped(&after));
	downstream_stop(d); /* nothing more */
	assert_int_equal(group_kit_counters(bench).drops[DROP_STOPPED], pending);
	/* the first packets were cut where the stop came; those that count as sent are whole */
	group_kit_take(bench, UINT32_MAX);
	assert_int_equal(after.values[COUNTER_TRANSMITTED], bench->back);
	group_kit_close(bench);
}

/* A port that takes no chains, and fewer buffers for copies than frames: all packets of a frame are lost. */
TEST(no_buffer_for_a_copy) {
	struct rte_mempool *copies;
	struct counters c;

	bench_open("", 1024);
	copies = fixture_pool("copies", 3, FIXTURE_ROOM);
	bench->group->downstream->lower.linear = copies;
	for (unsigned i = 0; i < 30; i++)
		group_kit_good(bench, 3, 0, 300);
	for (unsigned i = 0; i < 20; i++) {
		group_kit_round(bench);
		pass_time(20000);
	}
	c = group_kit_counters(bench);
	assert_int_equal(group_kit_take(bench, UINT32_MAX), 3);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], bench->back);
	assert_int_equal(c.drops[DROP_NO_BUFFER], bench->injected - bench->back);
	bench->group->downstream->lower.linear = NULL;
	fixture_pool_end(copies);
	group_kit_close(bench);
}

/* MULPI, annex C.2.2: rates count from the byte behind the HCS to the end of the CRC. A packet in several buffers, which is
 * for nobody, counts with all of its bytes. */
TEST(bytes_are_those_of_the_packets) {
	static const uint8_t zeros[900];
	uint64_t sent = 0, scheduled = 0;
	struct scheduler_flow_report r;
	struct rte_mempool *packets;
	const struct downstream *d;
	struct counters c;
	struct rte_mbuf *m;

	bench_open("", 1024);
	packets = bench->server.pools.packets;
	for (unsigned i = 0; i < PACKETS; i++) {
		group_kit_good(bench, (uint8_t)(i % 2), 0, 60 + 7 * i);
		sent += bench->sent[i].size;
	}
	m = fixture_packet(packets, zeros, 100);
	assert_int_equal(rte_pktmbuf_chain(m, fixture_packet(packets, zeros, 900)), 0);
	assert_int_equal(rte_eth_tx_burst(bench->network, 0, &m, 1), 1);
	bench->injected++;
	group_kit_round(bench);
	group_kit_settle(bench);
	c = group_kit_counters(bench);
	assert_int_equal(c.values[COUNTER_RECEIVED], PACKETS + 1);
	assert_int_equal(c.values[COUNTER_RECEIVED_BYTES], sent + 1000);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], PACKETS);
	d = bench->group->downstream;
	for (uint32_t f = 0; f < d->tables.flow_count; f++) {
		scheduler_report_flow(d->upper.scheduler, f, &r);
		scheduled += r.bytes;
	}
	assert_int_equal(scheduled, sent + (uint64_t)PACKETS * RTE_ETHER_CRC_LEN);
	group_kit_close(bench);
}

TEST(parts_are_those_that_are_wanted) {
	for (unsigned crc = 0; crc < 2; crc++) {
		bench_open(crc ? "crypto: {generate_crc: true}\n"
			       : "crypto: {generate_crc: false}\n",
			   1024);
		for (enum cipher k = CIPHER_NONE; k < CIPHERS; k++)
			assert_int_equal(bench->group->downstream->lower.crypto_parts[k],
					 (crc ? CRYPTO_CRC : 0) |
						 (k == CIPHER_NONE ? 0 : CRYPTO_CIPHER));
		group_kit_close(bench);
	}
}

ALL_TESTS(NULL, fixture_stop)
