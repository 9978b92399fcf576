/* SPDX-License-Identifier: BSD-3-Clause */
/* A group whose network and control port are VLANs: each frame leaves with the tag, whatever waits. */
#include "test.h"

#include <string.h>

#include <rte_ethdev.h>

#include "fixture.h"
#include "platform/vlan.h"
#include "upstream_bench.h"

#define STREAM 4
#define SIZE 300
#define VLAN 0x123
#define CONTROL_VLAN 0x456

static struct upstream_bench storage, *const bench = &storage;

static void setup(unsigned depth) {
	bench_prepare(bench);
	bench->network_depth = depth;
	bench->sg.network.vlan = VLAN;
	bench->sg.control_port.vlan = CONTROL_VLAN;
	bench_start(bench);
}

static void put(void) {
	uint8_t mac[BENCH_FRAME_MAX];

	bench_segment(bench, STREAM, 0, mac, bench_mac(bench, STREAM, SIZE, mac));
}

static struct rte_mbuf *take(uint16_t port, uint16_t vlan) {
	struct rte_mbuf *m = NULL;
	const uint8_t *frame;

	if (rte_eth_rx_burst(port, 0, &m, 1) == 0)
		return NULL;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(load_be16(frame + 12), ETHERTYPE_VLAN);
	assert_int_equal(load_be16(frame + 14), vlan);
	packet_untag(m);
	fixture_check(m);
	return m;
}

static void take_number(uint32_t serial) {
	struct rte_mbuf *m = take(bench->network, VLAN);
	uint8_t expected[SIZE];

	assert_non_null(m);
	bench_ethernet(bench, STREAM, serial, SIZE, expected);
	assert_int_equal(rte_pktmbuf_pkt_len(m), SIZE);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), expected, SIZE);
	rte_pktmbuf_free(m);
}

static void packets_have_the_tag(void **state) {
	(void)state;
	setup(64);
	put();
	bench_round(bench);
	bench_round(bench);
	take_number(0);
	assert_int_equal(bench_count(bench, COUNTER_TRANSMITTED_BYTES), SIZE + VLAN_TAG_SIZE);
	bench_close(bench);
}

/* The port has three places. */
static void packets_that_wait_have_one_tag(void **state) {
	const uint32_t packets = 20;

	(void)state;
	setup(4);
	for (uint32_t i = 0; i < packets; i++) {
		put();
		bench_round(bench);
	}
	for (int i = 0; i < 5; i++)
		bench_round(bench);
	assert_int_equal(bench->u->transmit.count, packets - 3);
	for (uint32_t i = 0; i < packets; i++) {
		take_number(i);
		bench_round(bench);
	}
	bench_close(bench);
}

/* Behind each other in one packet: the tag of one takes nothing from the one before, which waits. */
static void neighbours_have_the_tag(void **state) {
	uint8_t segment[1400];
	size_t size = 0;

	(void)state;
	setup(4);
	for (uint32_t i = 0; i < 4; i++)
		size += bench_mac(bench, STREAM, SIZE, segment + size);
	bench_segment(bench, STREAM, 0, segment, size);
	for (int i = 0; i < 3; i++)
		bench_round(bench);
	assert_int_equal(bench->u->transmit.count, 1);
	for (uint32_t i = 0; i < 4; i++) {
		take_number(i);
		bench_round(bench);
	}
	bench_close(bench);
}

static void messages_have_the_tag(void **state) {
	static const struct docsis_up_header management = {.kind = DOCSIS_KIND_MANAGEMENT};
	uint8_t pdu[60], mac[BENCH_FRAME_MAX];
	struct rte_mbuf *m;

	(void)state;
	setup(64);
	memset(pdu, 7, sizeof(pdu));
	bench_segment(bench, STREAM, 0, mac,
		      bench_frame(bench, 2, &management, pdu, sizeof(pdu), mac));
	bench_round(bench);
	bench_round(bench);
	m = take(bench->control, CONTROL_VLAN);
	assert_non_null(m);
	assert_int_equal(rte_pktmbuf_pkt_len(m), sizeof(pdu));
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), pdu, sizeof(pdu));
	rte_pktmbuf_free(m);
	bench_close(bench);
}

/* A priority that the modem's frame has, without a VLAN, stays beside the group's VLAN. */
static void priorities_stay(void **state) {
	static const struct docsis_up_header packet = {.kind = DOCSIS_KIND_PACKET};
	uint8_t pdu[64] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xf0, 0, 0x88, 0xb5};
	uint8_t mac[BENCH_FRAME_MAX];
	struct rte_mbuf *m;

	(void)state;
	setup(64);
	bench_segment(bench, STREAM, 0, mac, bench_frame(bench, 2, &packet, pdu, sizeof(pdu), mac));
	bench_round(bench);
	bench_round(bench);
	m = take(bench->network, 0xf000 | VLAN);
	assert_non_null(m);
	assert_int_equal(rte_pktmbuf_pkt_len(m), sizeof(pdu) - VLAN_TAG_SIZE);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 12), pdu + 16, sizeof(pdu) - 16);
	rte_pktmbuf_free(m);
	bench_close(bench);
}

/* Short frames are padded before the tag, so that they are long enough without it,
 * whether they lie among others in their packet or alone in a buffer. */
static void short_frames_are_padded(void **state) {
	static const struct docsis_up_header packet = {.kind = DOCSIS_KIND_PACKET};
	uint8_t pdu[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	uint8_t mac[BENCH_FRAME_MAX];
	const uint8_t zeros[60] = {0};

	(void)state;
	for (unsigned copies = 0; copies < 2; copies++) {
		bench_prepare(bench);
		bench->sg.network.vlan = VLAN;
		bench->copies = copies;
		bench_start(bench);
		for (size_t size = 14; size <= 60; size++) {
			size_t both;

			memset(pdu + 14, (int)size, sizeof(pdu) - 14);
			both = bench_frame(bench, 2, &packet, pdu, size, mac);
			both += bench_frame(bench, 2, &packet, pdu, size, mac + both);
			bench_segment(bench, STREAM, 0, mac, both);
			bench_round(bench);
			bench_round(bench);
			for (unsigned i = 0; i < 2; i++) {
				struct rte_mbuf *m = take(bench->network, VLAN);
				const uint8_t *frame;

				assert_non_null(m);
				frame = rte_pktmbuf_mtod(m, const uint8_t *);
				assert_int_equal(rte_pktmbuf_pkt_len(m), 60);
				assert_memory_equal(frame, pdu, size);
				assert_memory_equal(frame + size, zeros, 60 - size);
				rte_pktmbuf_free(m);
			}
		}
		bench_close(bench);
	}
}

/* Without a buffer a short frame that must be copied ends under a name. */
static void no_buffer_for_padding(void **state) {
	static const struct docsis_up_header packet = {.kind = DOCSIS_KIND_PACKET};
	uint8_t pdu[40] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	struct rte_mbuf *taken[8192];
	uint8_t mac[BENCH_FRAME_MAX];
	unsigned n = 0;

	(void)state;
	setup(64);
	while (n < ARRAY_COUNT(taken) && (taken[n] = rte_pktmbuf_alloc(bench->frames)) != NULL)
		n++;
	bench_segment(bench, STREAM, 0, mac, bench_frame(bench, 2, &packet, pdu, sizeof(pdu), mac));
	bench_expect(bench, DROP_FRAME_NO_BUFFER, 1);
	bench_round(bench);
	bench_round(bench);
	assert_null(take(bench->network, VLAN));
	rte_pktmbuf_free_bulk(taken, n);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_have_the_tag),
		cmocka_unit_test(packets_that_wait_have_one_tag),
		cmocka_unit_test(neighbours_have_the_tag),
		cmocka_unit_test(messages_have_the_tag),
		cmocka_unit_test(priorities_stay),
		cmocka_unit_test(short_frames_are_padded),
		cmocka_unit_test(no_buffer_for_padding),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
