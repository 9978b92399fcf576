/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests uplink_output.h: the entries of packets that are swapped. */
#include <rte_ethdev.h>

#include "fixture.h"
#include "pipeline/first_number.h"
#include "platform/port.h"
#include "rphy/uplink_output.h"
#include "test_main.h"

#define HEADERS 42 /* to the end of the session ID */
#define DEPTH 2 /* of the port: it accepts one packet */

static struct rte_mempool *pool;
static uint16_t ports[2];
static struct uplink_output output;

static int open_ports(void **state) {
	fixture_start(state);
	pool = fixture_pool_create("uplink_output", 63, FIXTURE_BUFFER_SIZE);
	return port_pair("uplink_output", pool, DEPTH, ports);
}

static int close_ports(void **state) {
	for (int i = 0; i < 2; i++)
		port_close(ports[i]);
	fixture_pool_free(pool);
	return fixture_stop(state);
}

/* Puts packet `number` of a session, in which `count` packets end, whose numbers begin with `first`. */
static void put(uint16_t number, uint32_t first, unsigned count) {
	uint8_t bytes[HEADERS + 8] = {0};
	struct uplink_ended ended[UPLINK_OPEN_ENDED];

	for (unsigned i = 0; i < count; i++)
		ended[i] = (struct uplink_ended){.first = first + i, .packets = 1};
	store_be32(bytes + HEADERS - 4, 0x1234);
	store_be16(bytes + HEADERS + 2, (uint16_t)(first_number() + 1000 + number));
	uplink_output_put(&output, fixture_packet_create(pool, bytes, sizeof(bytes)), ended, count);
}

/* Transmits one packet. Asserts its number, and those of the packets that end in it. */
static void check_sent(uint16_t number, uint32_t first, unsigned count) {
	const struct uplink_ended *ended;
	struct rte_mbuf *m;
	unsigned n;

	assert_int_equal(uplink_output_transmit(&output, &ended, &n), 1);
	assert_int_equal(n, count);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(ended[i].first, first + i);
	assert_int_equal(rte_eth_rx_burst(ports[1], 0, &m, 1), 1);
	assert_int_equal(load_be16(rte_pktmbuf_mtod_offset(m, uint8_t *, HEADERS + 2)),
			 (uint16_t)(first_number() + 1000 + number));
	rte_pktmbuf_free(m);
}

/* The port accepts one packet of a swapped pair at a time. */
TEST(entries_leave_with_swapped_packets) {
	static const struct {
		unsigned first, second; /* entries of the two packets */
	} cases[] = {{1, 2}, {2, 1}, {0, 3}, {3, 0}, {UPLINK_OPEN_ENDED, UPLINK_OPEN_ENDED}};

	output = (struct uplink_output){
		.port = ports[0], .pool = pool, .headers_size = HEADERS, .reorder_every = 1};
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		put(0, 100, 1);
		output.pending[0].session = 0; /* stays the first */
		put(1, 200, cases[i].first);
		put(2, 300, cases[i].second);
		assert_int_equal(output.reordered, i + 1);
		check_sent(0, 100, 1);
		check_sent(2, 300, cases[i].second);
		check_sent(1, 200, cases[i].first);
	}
}

ALL_TESTS(open_ports, close_ports)
