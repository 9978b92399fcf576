/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame stage: room in front and behind to the byte. What frames are like is read by the kits' ends behind the port. */
#include "test_main.h"

#include <string.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "fixture.h"
#include "random.h"

/* A header of 17 bytes, with privacy element: the largest. */
static const struct docsis_down_header header = {
	.privacy = true,
	.encrypted = true,
	.key_sequence = 7,
	.said = 0x1234,
	.ds = DS_EHDR_SEQUENCE,
	.priority = 5,
	.dsid = 0x54321,
};

static struct rte_mempool *packets;
static struct ds_flow flow;
static struct ds_tables tables = {.flows = &flow, .flow_count = 1};
static struct ds_lower lower = {.tables = &tables};
static struct random rnd = {42};

static struct rte_mbuf *packet(size_t size, uint8_t *bytes) {
	struct rte_mbuf *m;

	random_fill(&rnd, bytes, size);
	m = fixture_packet(packets, bytes, size);
	packet_meta(m)->flow = 0;
	packet_meta(m)->sequence = (uint16_t)random_next(&rnd);
	return m;
}

/* Header by src/wire, then the packet unchanged, then room for its CRC. */
static void check(struct rte_mbuf *m, const uint8_t *bytes, size_t size) {
	struct docsis_down_header h = header;
	uint8_t expected[DOCSIS_DOWN_HEADER_MAX];
	size_t header_size;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	h.sequence = packet_meta(m)->sequence;
	header_size = docsis_down_header_write(&h, size + ETHERNET_CRC_SIZE, expected);
	fixture_check(m);
	assert_int_equal(rte_pktmbuf_data_len(m), header_size + size + ETHERNET_CRC_SIZE);
	assert_memory_equal(frame, expected, header_size);
	assert_memory_equal(frame + header_size, bytes, size);
	rte_pktmbuf_free(m);
}

/* A packet that stands so that this many bytes are free in front of and behind it. */
static struct rte_mbuf *tight(uint16_t front, uint16_t behind, uint8_t *bytes, size_t *size) {
	struct rte_mbuf *m;

	*size = (size_t)(FIXTURE_ROOM - front - behind);
	m = packet(100, bytes);
	random_fill(&rnd, bytes, *size);
	m->data_off = front;
	m->data_len = (uint16_t)*size;
	m->pkt_len = (uint32_t)*size;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), bytes, *size);
	return m;
}

TEST(room_to_the_byte) {
	static const struct {
		uint16_t front, behind;
		bool fits;
	} cases[] = {
		{DS_FLOW_HEADER, ETHERNET_CRC_SIZE, true},
		{DS_FLOW_HEADER - 1, ETHERNET_CRC_SIZE, false},
		{DS_FLOW_HEADER, ETHERNET_CRC_SIZE - 1, false},
		{0, ETHERNET_CRC_SIZE, false},
		{DS_FLOW_HEADER, 0, false},
	};
	static uint8_t bytes[4096], good[200];

	packets = fixture_pool("packets", 127, FIXTURE_ROOM);
	ds_flow_set_header(&flow, &header);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t dropped = lower.counters.drops[DROP_NO_ROOM];
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		size_t size;
		uint16_t n;

		pkts[0] = tight(cases[i].front, cases[i].behind, bytes, &size);
		pkts[1] = packet(sizeof(good), good);
		n = ds_frame(&lower, pkts, 2);
		assert_int_equal(n, 1 + cases[i].fits);
		assert_int_equal(lower.counters.drops[DROP_NO_ROOM], dropped + !cases[i].fits);
		if (cases[i].fits)
			check(pkts[0], bytes, size);
		check(pkts[n - 1], good, sizeof(good));
	}
	assert_int_equal(lower.counters.values[COUNTER_FRAMED], ARRAY_COUNT(cases) + 1);
	fixture_pool_end(packets);
}

ALL_TESTS(fixture_start, fixture_stop)
