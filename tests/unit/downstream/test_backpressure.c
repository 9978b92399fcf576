/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a server whose R-PHY port is full: packets are queued and dropped only in the scheduler,
 * and leave once the port transmits. Also tests the stop and byte counters. */
#include "messages_kit.h"

#include "downstream/stages.h"
#include "server/measure.h"

#define PACKETS 40

/* Sends small packets to a modem with a large buffer, large ones to one with a small buffer. */
static void send_packets(int rounds) {
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 60; i++)
			group_kit_send_good(kit, 3, 0, 60);
		group_kit_send_good(kit, 2, 0, 1500);
		group_kit_round(kit);
		advance_clock(20000);
	}
}

/* Checks the limit of packets pending behind the scheduler. */
static void check_lower_limit(void) {
	const struct ds_lower *l = &kit->group->downstream->lower;

	assert_in_range(l->crypto->pending + l->waiting_packets, 0,
			DS_LOWER_LIMIT + PIPELINE_BURST);
}

TEST(full_port_queues_packets_in_scheduler) {
	struct counters c;
	uint64_t pending;

	open_server("", RPHY_DEPTH);
	for (unsigned full = 0; full < 2; full++) {
		send_packets(full ? 300 : 250);
		check_lower_limit();
		c = group_kit_counters(kit);
		assert_true(c.drops[DROP_FLOW_BUFFER_FULL] > 0); /* modem 2 */
		assert_int_equal(c.drops[DROP_SCHEDULER_FULL] > 0, full);
	}
	assert_true(c.values[COUNTER_TRANSMIT_RETRIES] > 0);
	assert_int_equal(counters_dropped(&c),
			 c.drops[DROP_FLOW_BUFFER_FULL] + c.drops[DROP_SCHEDULER_FULL]);
	/* transmitted packets are still in the port */
	pending = downstream_pending(kit->group->downstream);
	assert_int_equal(c.values[COUNTER_RECEIVED] - counters_dropped(&c),
			 c.values[COUNTER_TRANSMITTED] + pending);
	assert_true(pending > 16384);
	/* with a port that is often full, each packet is received once, in order */
	for (int i = 0; i < 200; i++) {
		group_kit_receive(kit, random_below(&kit->random, 60));
		group_kit_round(kit);
		check_lower_limit();
	}
	group_kit_settle(kit);
	c = group_kit_counters(kit);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], kit->received);
	assert_int_equal(kit->received + counters_dropped(&c), kit->injected);
	for (unsigned i = 0; i < GROUP_KIT_CHANNELS; i++)
		assert_int_equal(kit->readers[i].incomplete + kit->readers[i].open, 0);
	group_kit_close(kit);
}

static void submit_burst(struct ds_lower *l) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = ds_take_over(l, pkts, 0);

	n = ds_frame(l, pkts, n);
	ds_encrypt_submit(l, pkts, n);
	assert_true(n > 0);
}

TEST(stop_drops_and_counts_pending_packets) {
	struct downstream *d;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct counters before, after;
	uint64_t pending;
	uint16_t n;

	open_server("", RPHY_DEPTH);
	assert_int_equal(server_latency(&kit->server, true), 0);
	send_packets(300);
	d = kit->group->downstream;
	/* frees some of the port; one burst ends in an open DEPI frame ... */
	group_kit_receive(kit, 32);
	ds_transmit(&d->lower, pkts, 0);
	submit_burst(&d->lower);
	n = ds_encrypt_collect(&d->lower, pkts, 0);
	n = ds_depi(&d->lower, pkts, n);
	ds_transmit(&d->lower, pkts, n);
	/* ... and one stays in the crypto device */
	submit_burst(&d->lower);
	before = group_kit_counters(kit);
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
	after = group_kit_counters(kit);
	assert_int_equal(downstream_pending(d), 0);
	assert_int_equal(d->lower.arrivals.count, 0);
	assert_int_equal(after.drops[DROP_STOPPED], pending);
	assert_int_equal(after.values[COUNTER_RECEIVED],
			 after.values[COUNTER_TRANSMITTED] + counters_dropped(&after));
	downstream_stop(d); /* no effect */
	assert_int_equal(group_kit_counters(kit).drops[DROP_STOPPED], pending);
	/* packets that count as transmitted are complete */
	group_kit_receive(kit, UINT32_MAX);
	assert_int_equal(after.values[COUNTER_TRANSMITTED], kit->received);
	group_kit_close(kit);
}

/* Without chained mbufs, all packets of a frame that finds no buffer for its copy are dropped. */
TEST(frame_without_buffer_for_copy_is_dropped) {
	struct rte_mempool *copies;
	struct counters c;

	open_server("", 1024);
	copies = fixture_pool_create("copies", 3, FIXTURE_BUFFER_SIZE);
	kit->group->downstream->lower.linear = copies;
	for (unsigned i = 0; i < 30; i++)
		group_kit_send_good(kit, 3, 0, 300);
	for (unsigned i = 0; i < 20; i++) {
		group_kit_round(kit);
		advance_clock(20000);
	}
	c = group_kit_counters(kit);
	assert_int_equal(group_kit_receive(kit, UINT32_MAX), 3);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], kit->received);
	assert_int_equal(c.drops[DROP_NO_BUFFER], kit->injected - kit->received);
	kit->group->downstream->lower.linear = NULL;
	fixture_pool_free(copies);
	group_kit_close(kit);
}

/* Rates count bytes from behind the HCS to the end of the CRC (MULPI, annex C.2.2). */
TEST(byte_counters_match_packets) {
	static const uint8_t zeros[900];
	uint64_t sent = 0, scheduled = 0;
	struct scheduler_flow_report r;
	struct rte_mempool *packets;
	const struct downstream *d;
	struct counters c;
	struct rte_mbuf *m;

	open_server("", 1024);
	packets = kit->server.pools.packets;
	for (unsigned i = 0; i < PACKETS; i++) {
		group_kit_send_good(kit, (uint8_t)(i % 2), 0, 60 + 7 * i);
		sent += kit->sent[i].size;
	}
	m = fixture_packet_create(packets, zeros, 100);
	assert_int_equal(rte_pktmbuf_chain(m, fixture_packet_create(packets, zeros, 900)), 0);
	assert_int_equal(rte_eth_tx_burst(kit->network, 0, &m, 1), 1);
	kit->injected++;
	group_kit_round(kit);
	group_kit_settle(kit);
	c = group_kit_counters(kit);
	assert_int_equal(c.values[COUNTER_RECEIVED], PACKETS + 1);
	assert_int_equal(c.values[COUNTER_RECEIVED_BYTES], sent + 1000);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], PACKETS);
	d = kit->group->downstream;
	for (uint32_t f = 0; f < d->tables.flow_count; f++) {
		scheduler_report_flow(d->upper.scheduler, f, &r);
		scheduled += r.bytes;
	}
	assert_int_equal(scheduled, sent + (uint64_t)PACKETS * RTE_ETHER_CRC_LEN);
	group_kit_close(kit);
}

TEST(crypto_parts_follow_configuration) {
	for (unsigned crc = 0; crc < 2; crc++) {
		open_server(crc ? "crypto: {generate_crc: true}\n"
				: "crypto: {generate_crc: false}\n",
			    1024);
		for (enum cipher k = CIPHER_NONE; k < CIPHERS; k++)
			assert_int_equal(kit->group->downstream->lower.crypto_parts[k],
					 (crc ? CRYPTO_CRC : 0) |
						 (k == CIPHER_NONE ? 0 : CRYPTO_CIPHER));
		group_kit_close(kit);
	}
}

ALL_TESTS(NULL, fixture_stop)
