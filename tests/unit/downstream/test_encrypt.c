/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The encrypt stages: published vectors, every size of PDU against a plain implementation, mixes of
 * sizes in one flush, flows without encryption.
 */
#include "test.h"

#include <string.h>

#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "encrypt_bench.h"
#include "fixture.h"
#include "plain_aes.h"
#include "vectors.h"

#define FRAME_MAX 2048

/* What the flow's frame must be afterwards, in place: header, PDU with CRC. */
static void plain_result(uint8_t *bytes, size_t size, unsigned flow) {
	size_t header = encrypt_bench.flows[flow].header_size;
	uint8_t *pdu = bytes + header;

	ethernet_crc_write(pdu, size - header - ETHERNET_CRC_SIZE);
	if (flow != ENCRYPT_CLEAR_FLOW)
		bpi_encrypt(encrypt_bench.keys[flow], encrypt_bench.flows[flow].key.iv,
			    pdu + DOCSIS_CLEAR_SIZE, size - header - DOCSIS_CLEAR_SIZE);
}

/* One burst through the stages; `sizes` are those of the PDUs without CRC. */
static void run_burst(const uint32_t *sizes, const uint32_t *flows, uint16_t n) {
	static uint8_t expected[PIPELINE_BURST][FRAME_MAX];
	size_t lengths[PIPELINE_BURST];
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (uint16_t i = 0; i < n; i++) {
		lengths[i] =
			encrypt_bench.flows[flows[i]].header_size + sizes[i] + ETHERNET_CRC_SIZE;
		random_fill(&encrypt_bench.random, expected[i], lengths[i]);
		pkts[i] = encrypt_frame(expected[i], lengths[i], flows[i]);
		plain_result(expected[i], lengths[i], flows[i]);
	}
	assert_int_equal(ds_encrypt_submit(&encrypt_bench.lower, pkts, n), 0);
	assert_int_equal(encrypt_bench.lower.crypto->held, n);
	assert_int_equal(encrypt_collect(pkts), n);
	for (uint16_t i = 0; i < n; i++) {
		fixture_check(pkts[i]);
		assert_int_equal(rte_pktmbuf_data_len(pkts[i]), lengths[i]);
		if (memcmp(rte_pktmbuf_mtod(pkts[i], void *), expected[i], lengths[i]) != 0)
			fail_msg("job %u of %u, PDU of %u bytes, flow %u: wrong result", i, n,
				 sizes[i], flows[i]);
		rte_pktmbuf_free(pkts[i]);
	}
}

/* The yardstick itself first. */
static void plain_implementation_is_right(void **state) {
	struct vector key, iv, clear, sent;

	(void)state;
	vector_get("bpi.txt", "fips_key", &key);
	vector_get("bpi.txt", "fips_clear", &clear);
	vector_get("bpi.txt", "fips_sent", &sent);
	aes_encrypt_block(key.bytes, clear.bytes);
	assert_memory_equal(clear.bytes, sent.bytes, 16);
	vector_get("bpi.txt", "nist_key", &key);
	vector_get("bpi.txt", "nist_iv", &iv);
	vector_get("bpi.txt", "nist_clear", &clear);
	vector_get("bpi.txt", "nist_sent", &sent);
	bpi_encrypt(key.bytes, iv.bytes, clear.bytes, clear.size);
	assert_memory_equal(clear.bytes, sent.bytes, clear.size);
}

/* `name` is the vector's, `set` that of its key. */
static void check_vector(const char *set, const char *name, unsigned flow) {
	struct vector key, iv, clear, sent;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	char text[64];

	snprintf(text, sizeof(text), "%s_key", set);
	vector_get("bpi.txt", text, &key);
	snprintf(text, sizeof(text), "%s_iv", set);
	vector_get("bpi.txt", text, &iv);
	snprintf(text, sizeof(text), "%s_clear", name);
	vector_get("bpi.txt", text, &clear);
	snprintf(text, sizeof(text), "%s_sent", name);
	vector_get("bpi.txt", text, &sent);
	encrypt_flow_make(flow, key.bytes, iv.bytes, DOCSIS_MAC_HEADER);
	pkts[0] = encrypt_frame(clear.bytes, clear.size, flow);
	assert_int_equal(ds_encrypt_submit(&encrypt_bench.lower, pkts, 1), 0);
	assert_int_equal(encrypt_collect(pkts), 1);
	assert_int_equal(rte_pktmbuf_data_len(pkts[0]), sent.size);
	assert_memory_equal(rte_pktmbuf_mtod(pkts[0], void *), sent.bytes, sent.size);
	rte_pktmbuf_free(pkts[0]);
	plain_result(clear.bytes, clear.size, flow);
	assert_memory_equal(clear.bytes, sent.bytes, sent.size);
}

/* Those whose CRC and encryption begin where the stage has them; tests/unit/crypto does the others. */
static void published_vectors(void **state) {
	static const char *const dpdk[] = {"dpdk_1", "dpdk_2", "dpdk_3",
					   "dpdk_4", "dpdk_5", "dpdk_6"};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(dpdk); i++)
		check_vector("dpdk", dpdk[i], 0);
	check_vector("dpdk", "dpdk_10", ENCRYPT_CLEAR_FLOW);
	check_vector("dpdk", "dpdk_11", ENCRYPT_CLEAR_FLOW);
	check_vector("sec", "sec_19", 0);
	check_vector("sec", "sec_31", 0);
	encrypt_flows_make();
}

/* Every size of frame from the smallest to the largest, each flow. */
static void every_size(void **state) {
	uint32_t sizes[PIPELINE_BURST], flows[PIPELINE_BURST];
	uint32_t size = 14;

	(void)state;
	while (size <= DOCSIS_PDU_MAX - ETHERNET_CRC_SIZE) {
		uint16_t n = 0;

		for (; n < PIPELINE_BURST && size <= DOCSIS_PDU_MAX - ETHERNET_CRC_SIZE; n++) {
			flows[n] = size % ENCRYPT_FLOWS;
			sizes[n] = size++;
		}
		run_burst(sizes, flows, n);
	}
	for (uint32_t flow = 0; flow < ENCRYPT_FLOWS; flow++) {
		for (uint32_t s = 14; s < 14 + PIPELINE_BURST; s++) {
			flows[s - 14] = flow;
			sizes[s - 14] = s;
		}
		run_burst(sizes, flows, PIPELINE_BURST);
	}
}

/*
 * Many jobs of different sizes in one flush, the smallest PDU of them 62 or 142 bytes with its CRC:
 * here intel-ipsec-mb once made wrong CRCs (its issue 70).
 */
static void mixed_sizes_in_one_flush(void **state) {
	static const uint32_t smallest[] = {62, 142};
	uint32_t sizes[PIPELINE_BURST], flows[PIPELINE_BURST];

	(void)state;
	for (uint16_t jobs = 1; jobs <= PIPELINE_BURST; jobs++) {
		for (size_t k = 0; k < 2 * ARRAY_COUNT(smallest); k++) {
			for (uint16_t i = 0; i < jobs; i++) {
				sizes[i] = random_between(&encrypt_bench.random, 142, 500);
				/* first all of one key, then of all kinds */
				flows[i] =
					k < 2 ? 1
					      : random_below(&encrypt_bench.random, ENCRYPT_FLOWS);
			}
			sizes[random_below(&encrypt_bench.random, jobs)] =
				smallest[k % 2] - ETHERNET_CRC_SIZE;
			run_burst(sizes, flows, jobs);
		}
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_implementation_is_right),
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(every_size),
		cmocka_unit_test(mixed_sizes_in_one_flush),
		cmocka_unit_test(encrypt_bench_end),
	};

	return cmocka_run_group_tests(tests, encrypt_bench_open, fixture_stop);
}
