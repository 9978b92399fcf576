/* SPDX-License-Identifier: BSD-3-Clause */
/* The edges of both MACs on their own: what is received, taken over and transmitted, and what is not. */
#include "test.h"

#include <rte_ethdev.h>
#include <rte_ring.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "platform/port.h"

#include "fixture.h"

#define DEPTH 256
#define PACKETS 511

static struct rte_mempool *packets, *copies;
static uint16_t wire[2]; /* ports whose wires are crossed */
static struct crypto_queue queue;
static struct ds_lower lower;
static struct latency off;

static int make(void **state) {
	fixture_start(state);
	packets = fixture_pool("packets", PACKETS, FIXTURE_ROOM);
	copies = fixture_pool("copies", 3, FIXTURE_ROOM);
	assert_int_equal(port_pair("edge", packets, DEPTH, wire), 0);
	lower.rphy = packet_sink_port(wire[0]);
	lower.latency = &off;
	lower.crypto = &queue;
	lower.from_upper = rte_ring_create("edge_ring", DEPTH, SOCKET_ID_ANY, 0);
	assert_non_null(lower.from_upper);
	return 0;
}

static void unmake(void **state) {
	(void)state;
	rte_ring_free(lower.from_upper);
	fixture_pool_end(packets);
	fixture_pool_end(copies);
}

static struct rte_mbuf *frame_of(size_t size, uint16_t ends) {
	static const uint8_t bytes[1000];
	struct rte_mbuf *m = fixture_packet(packets, bytes, size);

	packet_meta(m)->ends = ends;
	return m;
}

/* Takes what came over the wire, and returns how many packets that are. */
static unsigned take_wire(void) {
	struct rte_mbuf *pkts[PIPELINE_BURST];
	unsigned all = 0;
	uint16_t n;

	while ((n = rte_eth_rx_burst(wire[1], 0, pkts, PIPELINE_BURST)) > 0) {
		rte_pktmbuf_free_bulk(pkts, n);
		all += n;
	}
	return all;
}

/* A packet in several buffers counts with all of its bytes. */
static void received_bytes(void **state) {
	struct ds_upper upper = {.network = {.port = wire[0]}, .latency = &off};
	struct rte_mbuf *pkts[PIPELINE_CAPACITY] = {frame_of(60, 0), frame_of(100, 0)};

	(void)state;
	assert_int_equal(rte_pktmbuf_chain(pkts[1], frame_of(900, 0)), 0);
	assert_int_equal(rte_eth_tx_burst(wire[1], 0, pkts, 2), 2);
	assert_int_equal(ds_receive(&upper, pkts, 0), 2);
	assert_int_equal(upper.counters.values[COUNTER_RECEIVED], 2);
	assert_int_equal(upper.counters.values[COUNTER_RECEIVED_BYTES], 1060);
	rte_pktmbuf_free_bulk(pkts, 2);
}

/* Whether the lower MAC takes over a packet that waits for it. */
static bool takes_over(void) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY], *m = frame_of(60, 0);
	bool taken;

	assert_int_equal(rte_ring_enqueue(lower.from_upper, m), 0);
	taken = ds_take_over(&lower, pkts, 0) == 1;
	if (!taken)
		assert_int_equal(rte_ring_dequeue(lower.from_upper, (void **)&m), 0);
	rte_pktmbuf_free(m);
	return taken;
}

/* Whatever is behind: the device, the port with packets, or with frames in which none ends. */
static void takes_over_up_to_the_limit(void **state) {
	(void)state;
	assert_true(takes_over());
	lower.crypto->held = DS_LOWER_LIMIT;
	assert_true(takes_over());
	lower.crypto->held++;
	assert_false(takes_over());
	lower.crypto->held = 1;
	lower.waiting_packets = DS_LOWER_LIMIT - 1;
	assert_true(takes_over());
	lower.waiting_packets++;
	assert_false(takes_over());
	lower.crypto->held = lower.waiting_packets = 0;
	lower.waiting_count = DS_LOWER_LIMIT;
	assert_true(takes_over());
	lower.waiting_count++;
	assert_false(takes_over());
	lower.waiting_count = 0;
}

/* Frames that wait over the end of the circle go out in their order, each once. */
static void the_circle_closes(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	lower.counters = (struct counters){0};
	for (uint32_t first = DS_TRANSMIT_CAPACITY - 9; first < DS_TRANSMIT_CAPACITY; first++) {
		lower.waiting_first = first;
		for (uint16_t i = 0; i < 40; i++)
			pkts[i] = frame_of(60U + i, 2);
		assert_int_equal(ds_transmit(&lower, pkts, 40), 40);
		assert_int_equal(lower.waiting_count + lower.waiting_packets, 0);
		assert_int_equal(lower.waiting_first, (first + 40) % DS_TRANSMIT_CAPACITY);
		assert_int_equal(rte_eth_rx_burst(wire[1], 0, pkts, PIPELINE_BURST), 40);
		for (uint16_t i = 0; i < 40; i++)
			assert_int_equal(rte_pktmbuf_pkt_len(pkts[i]), 60 + i);
		rte_pktmbuf_free_bulk(pkts, 40);
	}
	assert_int_equal(lower.counters.values[COUNTER_TRANSMITTED], 9 * 80);
}

/* A port that takes no chains, and fewer buffers for copies than frames: all packets of a frame are lost. */
static void no_buffer_for_a_copy(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	lower.counters = (struct counters){0};
	lower.linear = copies;
	for (uint16_t i = 0; i < 10; i++)
		pkts[i] = frame_of(100, 4);
	assert_int_equal(ds_transmit(&lower, pkts, 10), 3);
	lower.linear = NULL;
	assert_int_equal(lower.counters.values[COUNTER_TRANSMITTED], 3 * 4);
	assert_int_equal(lower.counters.drops[DROP_NO_BUFFER], 7 * 4);
	assert_int_equal(take_wire(), 3);
	assert_int_equal(rte_mempool_in_use_count(packets), 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(received_bytes),
		cmocka_unit_test(takes_over_up_to_the_limit),
		cmocka_unit_test(the_circle_closes),
		cmocka_unit_test(no_buffer_for_a_copy),
		cmocka_unit_test(unmake),
	};

	return cmocka_run_group_tests(tests, make, fixture_stop);
}
