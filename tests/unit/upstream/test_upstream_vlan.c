/* SPDX-License-Identifier: BSD-3-Clause */
/* A group whose network and control port are VLANs: each frame leaves with the tag, whatever waits. */

#include <rte_ethdev.h>

#include "platform/vlan.h"
#include "upstream_cases.h"

#define SIZE 300
#define VLAN 0x123
#define CONTROL_VLAN 0x456

static void vlans(void) {
	bench->sg.network.vlan = VLAN;
	bench->sg.control_port.vlan = CONTROL_VLAN;
}

static void copies(void) {
	vlans();
	bench->copies = true;
}

/* Sends a frame of modem 2. */
static void put(enum docsis_kind kind, const uint8_t *pdu, size_t size) {
	uint8_t mac[BENCH_FRAME_MAX];

	bench_send(FRAMED, mac, bench_clear(2, kind, pdu, size, mac));
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

/* The next one there has the tag, and is this without it. */
static void take_this(uint16_t port, uint16_t tag, const uint8_t *expected, size_t size) {
	struct rte_mbuf *m = take(port, tag);

	assert_non_null(m);
	assert_int_equal(rte_pktmbuf_pkt_len(m), size);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), expected, size);
	rte_pktmbuf_free(m);
}

/* Behind each other in one packet, too: the tag of one takes nothing from the one before, which waits. */
CASE(packets_that_wait_have_one_tag, .prepare = vlans, .network_depth = 4, .lossy = true) {
	const uint32_t packets = 20, together = 4, room = 3;
	uint8_t expected[SIZE];

	for (uint32_t i = together; i < packets; i++) {
		bench_put(FRAMED, SIZE);
		bench_round();
	}
	bench_put_many(FRAMED, together, SIZE);
	bench_rounds(5);
	assert_int_equal(bench->u->transmit.count, packets - room);
	for (uint32_t serial = 0; serial < packets; serial++) {
		bench_ethernet(FRAMED, serial, SIZE, expected);
		take_this(bench->network, VLAN, expected, SIZE);
		bench_round();
	}
	assert_int_equal(bench_count(COUNTER_TRANSMITTED_BYTES), packets * (SIZE + VLAN_TAG_SIZE));
}

CASE(messages_have_the_tag, .prepare = vlans) {
	uint8_t pdu[60];

	memset(pdu, 7, sizeof(pdu));
	put(DOCSIS_KIND_MANAGEMENT, pdu, sizeof(pdu));
	bench_rounds(2);
	take_this(bench->control, CONTROL_VLAN, pdu, sizeof(pdu));
}

/* A priority that the modem's frame has, without a VLAN, stays beside the group's VLAN. */
CASE(priorities_stay, .prepare = vlans) {
	uint8_t pdu[64] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xf0, 0, 0x88, 0xb5};

	put(DOCSIS_KIND_PACKET, pdu, sizeof(pdu));
	bench_rounds(2);
	memmove(pdu + VLAN_TAG_SIZE, pdu, 12);
	take_this(bench->network, 0xf000 | VLAN, pdu + VLAN_TAG_SIZE, sizeof(pdu) - VLAN_TAG_SIZE);
}

/* Short frames are padded before the tag, so that they are long enough without it,
 * whether they lie among others in their packet or alone in a buffer. */
CASE(short_frames_are_padded, .prepare = vlans) {
	for (size_t size = 14; size <= 60; size++) {
		uint8_t pdu[60] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
		uint8_t mac[BENCH_FRAME_MAX];
		size_t both;

		memset(pdu + 14, (int)size, size - 14);
		both = bench_clear(2, DOCSIS_KIND_PACKET, pdu, size, mac);
		both += bench_clear(2, DOCSIS_KIND_PACKET, pdu, size, mac + both);
		bench_send(FRAMED, mac, both);
		bench_rounds(2);
		for (unsigned i = 0; i < 2; i++)
			take_this(bench->network, VLAN, pdu, sizeof(pdu));
	}
}
CASE_AGAIN(copies, short_frames_are_padded)

/* Without a buffer a short frame that must be copied ends under a name. */
CASE(no_buffer_for_padding, .prepare = vlans, .frame_buffers = 127) {
	const uint8_t pdu[40] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	struct rte_mbuf *taken[127];

	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->frames, taken, 127), 0);
	put(DOCSIS_KIND_PACKET, pdu, sizeof(pdu));
	bench_expect(DROP_FRAME_NO_BUFFER, 1);
	bench_rounds(2);
	assert_null(take(bench->network, VLAN));
	rte_pktmbuf_free_bulk(taken, 127);
}
