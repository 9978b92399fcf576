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

static struct random rnd = {42};
static uint8_t sent[2][FIXTURE_ROOM];

/* A packet that stands so that this many bytes are free in front of and behind it. */
static struct rte_mbuf *tight(struct rte_mempool *pool, unsigned which, unsigned front,
			      unsigned behind) {
	size_t size = FIXTURE_ROOM - front - behind;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	m->data_off = (uint16_t)front;
	random_fill(&rnd, sent[which], size);
	memcpy(rte_pktmbuf_append(m, (uint16_t)size), sent[which], size);
	packet_meta(m)->flow = 0;
	packet_meta(m)->sequence = (uint16_t)random_next(&rnd);
	return m;
}

/* Header by src/wire, then the packet unchanged, then room for its CRC. */
static void check(struct rte_mbuf *m, unsigned which, unsigned front, unsigned behind) {
	struct docsis_down_header h = header;
	size_t size = FIXTURE_ROOM - front - behind, header_size;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t expected[DOCSIS_DOWN_HEADER_MAX];

	h.sequence = packet_meta(m)->sequence;
	header_size = docsis_down_header_write(&h, size + ETHERNET_CRC_SIZE, expected);
	fixture_check(m);
	assert_int_equal(rte_pktmbuf_data_len(m), header_size + size + ETHERNET_CRC_SIZE);
	assert_memory_equal(frame, expected, header_size);
	assert_memory_equal(frame + header_size, sent[which], size);
	rte_pktmbuf_free(m);
}

TEST(room_to_the_byte) {
	static const struct {
		unsigned front, behind;
		bool fits;
	} cases[] = {
		{DS_FLOW_HEADER, ETHERNET_CRC_SIZE, true},
		{DS_FLOW_HEADER - 1, ETHERNET_CRC_SIZE, false},
		{DS_FLOW_HEADER, ETHERNET_CRC_SIZE - 1, false},
		{0, ETHERNET_CRC_SIZE, false},
		{DS_FLOW_HEADER, 0, false},
	};
	struct rte_mempool *packets = fixture_pool("packets", 127, FIXTURE_ROOM);
	struct ds_flow flow;
	struct ds_tables tables = {.flows = &flow, .flow_count = 1};
	struct ds_lower lower = {.tables = &tables};

	ds_flow_set_header(&flow, &header);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t dropped = lower.counters.drops[DROP_NO_ROOM];
		struct rte_mbuf *pkts[PIPELINE_CAPACITY] = {
			tight(packets, 0, cases[i].front, cases[i].behind),
			tight(packets, 1, 128, 1000)};
		uint16_t n = ds_frame(&lower, pkts, 2);

		assert_int_equal(n, 1 + cases[i].fits);
		assert_int_equal(lower.counters.drops[DROP_NO_ROOM], dropped + !cases[i].fits);
		if (cases[i].fits)
			check(pkts[0], 0, cases[i].front, cases[i].behind);
		check(pkts[n - 1], 1, 128, 1000);
	}
	assert_int_equal(lower.counters.values[COUNTER_FRAMED], ARRAY_COUNT(cases) + 1);
	fixture_pool_end(packets);
}

ALL_TESTS(fixture_start, fixture_stop)
