/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame stage: headers as src/wire writes them, and room in front and behind to the byte. */
#include "test.h"

#include <string.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "fixture.h"
#include "random.h"

#define FLOWS 8

static struct rte_mempool *packets;
static struct docsis_down_header headers[FLOWS];
static struct ds_flow flows[FLOWS];
static struct ds_tables tables = {.flows = flows, .flow_count = FLOWS};
static struct ds_lower lower = {.tables = &tables};
static struct random rnd = {42};

/* Headers of 8 and 12 bytes, and with privacy element of 13 and 17. */
static int open_all(void **state) {
	fixture_start(state);
	packets = fixture_pool("packets", 127, FIXTURE_ROOM);
	for (unsigned i = 0; i < FLOWS; i++) {
		headers[i] = (struct docsis_down_header){
			.privacy = i >= 4,
			.encrypted = i % 4 >= 2,
			.key_sequence = (uint8_t)i,
			.said = (uint16_t)(0x1234 + i),
			.ds = i % 2 ? DS_EHDR_SEQUENCE : DS_EHDR_PRIORITY,
			.priority = (uint8_t)i,
			.dsid = 0x54321 + i,
		};
		ds_flow_set_header(&flows[i], &headers[i]);
	}
	return 0;
}

static struct rte_mbuf *packet(uint32_t flow, size_t size, uint8_t *bytes) {
	struct rte_mbuf *m;

	random_fill(&rnd, bytes, size);
	m = fixture_packet(packets, bytes, size);
	packet_meta(m)->flow = flow;
	packet_meta(m)->sequence = (uint16_t)random_next(&rnd);
	return m;
}

/* Header by src/wire, then the packet unchanged, then room for its CRC. */
static void check(const struct rte_mbuf *m, uint32_t flow, uint16_t sequence, const uint8_t *bytes,
		  size_t size) {
	struct docsis_down_header h = headers[flow];
	uint8_t expected[DOCSIS_DOWN_HEADER_MAX];
	size_t header_size;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	h.sequence = sequence;
	header_size = docsis_down_header_write(&h, size + ETHERNET_CRC_SIZE, expected);
	fixture_check(m);
	assert_int_equal(rte_pktmbuf_data_len(m), header_size + size + ETHERNET_CRC_SIZE);
	assert_memory_equal(frame, expected, header_size);
	assert_memory_equal(frame + header_size, bytes, size);
}

static void headers_of_all_kinds(void **state) {
	static uint8_t bytes[PIPELINE_BURST][2048];

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		uint16_t n = (uint16_t)random_between(&rnd, 1, PIPELINE_BURST);
		size_t sizes[PIPELINE_BURST];
		uint32_t changed = random_below(&rnd, FLOWS);

		headers[changed].priority = (uint8_t)random_below(&rnd, 8);
		ds_flow_set_header(&flows[changed], &headers[changed]);

		for (uint16_t i = 0; i < n; i++) {
			sizes[i] = random_between(&rnd, 14, 1996);
			pkts[i] = packet(random_below(&rnd, FLOWS), sizes[i], bytes[i]);
		}
		assert_int_equal(ds_frame(&lower, pkts, n), n);
		for (uint16_t i = 0; i < n; i++) {
			const struct packet_meta *meta = packet_meta(pkts[i]);

			check(pkts[i], meta->flow, meta->sequence, bytes[i], sizes[i]);
			rte_pktmbuf_free(pkts[i]);
		}
	}
	assert_int_equal(counters_dropped(&lower.counters), 0);
}

/* A packet that stands so that this many bytes are free in front of and behind it. */
static struct rte_mbuf *tight(uint16_t front, uint16_t behind, uint8_t *bytes, size_t *size) {
	struct rte_mbuf *m;

	*size = (size_t)(FIXTURE_ROOM - front - behind);
	m = packet(7, 100, bytes);
	random_fill(&rnd, bytes, *size);
	m->data_off = front;
	m->data_len = (uint16_t)*size;
	m->pkt_len = (uint32_t)*size;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), bytes, *size);
	return m;
}

static void room_to_the_byte(void **state) {
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

	(void)state;
	lower.counters = (struct counters){0};
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t dropped = lower.counters.drops[DROP_NO_ROOM];
		struct rte_mbuf *pkts[PIPELINE_CAPACITY];
		uint16_t sequence;
		size_t size;

		pkts[0] = tight(cases[i].front, cases[i].behind, bytes, &size);
		sequence = packet_meta(pkts[0])->sequence;
		pkts[1] = packet(3, sizeof(good), good);
		if (cases[i].fits) {
			assert_int_equal(ds_frame(&lower, pkts, 2), 2);
			check(pkts[0], 7, sequence, bytes, size);
			rte_pktmbuf_free(pkts[0]);
			pkts[0] = pkts[1];
		} else {
			assert_int_equal(ds_frame(&lower, pkts, 2), 1);
			assert_int_equal(lower.counters.drops[DROP_NO_ROOM], dropped + 1);
		}
		check(pkts[0], 3, packet_meta(pkts[0])->sequence, good, sizeof(good));
		rte_pktmbuf_free(pkts[0]);
	}
	assert_int_equal(lower.counters.values[COUNTER_FRAMED], ARRAY_COUNT(cases) + 1);
	fixture_pool_end(packets);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_of_all_kinds),
		cmocka_unit_test(room_to_the_byte),
	};

	return cmocka_run_group_tests(tests, open_all, fixture_stop);
}
