/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The encrypt stages: published vectors, frames of every size and flow against a plain implementation in their order,
 * and what becomes of frames when the provider takes no more, or fails.
 */
#include "test.h"

#include <string.h>

#include "crypto/providers.h"
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "crypto_limit.h"
#include "fixture.h"
#include "plain_aes.h"
#include "random.h"
#include "vectors.h"

#define FLOWS 4
#define CLEAR_FLOW 3 /* not encrypted, CRC only */
#define FRAME_MAX 2048
#define SMALLEST 14 /* of a PDU without its CRC */
#define SIZES (DOCSIS_PDU_MAX - ETHERNET_CRC_SIZE - SMALLEST + 1)
#define STRIDE 997 /* all sizes come, and large ones beside small ones */
#define IN_FLIGHT 512

static struct crypto_provider *crypto;
static struct rte_mempool *packets;
static struct ds_flow flows[FLOWS];
static struct ds_tables tables = {.flows = flows, .flow_count = FLOWS};
static struct ds_lower lower = {.tables = &tables};
static uint8_t keys[FLOWS][16];
static struct random rnd = {4711};

/* What is in the provider, by number. */
static struct {
	uint8_t bytes[FRAME_MAX];
	size_t size;
} expected[IN_FLIGHT];
static unsigned given, back;

static void flow_make(unsigned flow, const uint8_t *key, const uint8_t *iv, uint8_t header_size) {
	enum cipher cipher = flow == CLEAR_FLOW ? CIPHER_NONE : CIPHER_AES_128;
	struct ds_flow *f = &flows[flow];

	crypto_key_free(crypto, CRYPTO_DOWNLINK, f->key.cipher, f->key.schedule);
	memcpy(keys[flow], key, 16);
	memcpy(f->key.iv, iv, 16);
	f->header_size = header_size;
	f->key.cipher = (uint8_t)cipher;
	f->key.schedule = crypto_key_make(crypto, CRYPTO_DOWNLINK, cipher, key);
	assert_non_null(f->key.schedule);
}

static int open_all(void **state) {
	static const uint8_t header_sizes[FLOWS] = {6, 11, 17, 14};
	uint8_t key[16], iv[16];

	fixture_start(state);
	crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(crypto);
	packets = fixture_pool("packets", IN_FLIGHT, FIXTURE_ROOM);
	lower.crypto = crypto_queue_open(crypto, CRYPTO_DOWNLINK);
	assert_non_null(lower.crypto);
	for (enum cipher c = CIPHER_NONE; c < CIPHERS; c++)
		lower.crypto_parts[c] = c == CIPHER_NONE ? CRYPTO_CRC : CRYPTO_CRC | CRYPTO_CIPHER;
	for (unsigned i = 0; i < FLOWS; i++) {
		random_fill(&rnd, key, sizeof(key));
		random_fill(&rnd, iv, sizeof(iv));
		flow_make(i, key, iv, header_sizes[i]);
	}
	return 0;
}

/* The last test of the group, as a failure in the end of a group would not count. */
static void nothing_is_left(void **state) {
	(void)state;
	assert_int_equal(lower.crypto->held, 0);
	fixture_pool_end(packets);
	for (unsigned i = 0; i < FLOWS; i++)
		crypto_key_free(crypto, CRYPTO_DOWNLINK, flows[i].key.cipher,
				flows[i].key.schedule);
	assert_int_equal(crypto->keys, 0);
	crypto_queue_close(lower.crypto);
	crypto_close(crypto);
}

static struct rte_mbuf *frame_of(const uint8_t *bytes, size_t size, uint32_t flow) {
	struct rte_mbuf *m = fixture_packet(packets, bytes, size);

	packet_meta(m)->flow = flow;
	return m;
}

/* What the flow's frame must be afterwards, in place: header, PDU with CRC. */
static void plain_result(uint8_t *bytes, size_t size, unsigned flow) {
	size_t header = flows[flow].header_size;
	uint8_t *pdu = bytes + header;

	ethernet_crc_write(pdu, size - header - ETHERNET_CRC_SIZE);
	if (flow != CLEAR_FLOW)
		bpi_encrypt(keys[flow], flows[flow].key.iv, pdu + DOCSIS_CLEAR_SIZE,
			    size - header - DOCSIS_CLEAR_SIZE);
}

static void expect(const uint8_t *bytes, size_t size) {
	memcpy(expected[given % IN_FLIGHT].bytes, bytes, size);
	expected[given++ % IN_FLIGHT].size = size;
}

/* Collects once, and compares. */
static void collect(void) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint16_t n = ds_encrypt_collect(&lower, pkts, 0);

	for (uint16_t i = 0; i < n; i++, back++) {
		size_t size = expected[back % IN_FLIGHT].size;

		fixture_check(pkts[i]);
		assert_int_equal(rte_pktmbuf_data_len(pkts[i]), size);
		if (memcmp(rte_pktmbuf_mtod(pkts[i], void *), expected[back % IN_FLIGHT].bytes,
			   size) != 0)
			fail_msg("frame %u of %zu bytes, flow %u: wrong result", back, size,
				 packet_meta(pkts[i])->flow);
		rte_pktmbuf_free(pkts[i]);
	}
	assert_int_equal(lower.crypto->held, given - back);
}

static void collect_all(void) {
	for (unsigned tries = 0; back < given && tries < 1000; tries++)
		collect();
	assert_int_equal(back, given);
}

/* Submits `n` frames; the sizes of their PDUs follow from their numbers. */
static void submit(uint16_t n) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	for (uint16_t i = 0; i < n; i++) {
		uint8_t bytes[FRAME_MAX];
		unsigned flow = random_below(&rnd, FLOWS);
		size_t size = flows[flow].header_size + SMALLEST + given * STRIDE % SIZES +
			      ETHERNET_CRC_SIZE;

		random_fill(&rnd, bytes, size);
		pkts[i] = frame_of(bytes, size, flow);
		plain_result(bytes, size, flow);
		expect(bytes, size);
	}
	assert_int_equal(ds_encrypt_submit(&lower, pkts, n), 0);
}

/* Bursts of any number, which overlap in the provider: what comes out first was put in first. */
static void every_size(void **state) {
	(void)state;
	while (given < FLOWS * SIZES) {
		submit((uint16_t)random_between(&rnd, 1, PIPELINE_BURST));
		collect();
		if (random_below(&rnd, 4) == 0 || given - back > 2 * PIPELINE_BURST)
			collect_all();
	}
	collect_all();
}

static void vector_part(const char *set, const char *part, struct vector *out) {
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", set, part);
	vector_get("bpi.txt", name, out);
}

/* The yardstick's cipher by itself. */
static void plain_implementation_is_right(void **state) {
	struct vector key, iv, clear, sent;

	(void)state;
	vector_part("fips", "key", &key);
	vector_part("fips", "clear", &clear);
	vector_part("fips", "sent", &sent);
	aes_encrypt_block(key.bytes, clear.bytes);
	assert_memory_equal(clear.bytes, sent.bytes, 16);
	vector_part("nist", "key", &key);
	vector_part("nist", "iv", &iv);
	vector_part("nist", "clear", &clear);
	vector_part("nist", "sent", &sent);
	bpi_encrypt(key.bytes, iv.bytes, clear.bytes, clear.size);
	assert_memory_equal(clear.bytes, sent.bytes, clear.size);
}

/* Those whose CRC and encryption begin where the stage has them; tests/unit/crypto does the others. */
static void published_vectors(void **state) {
	static const struct {
		const char *keys, *name;
		unsigned flow;
	} cases[] = {
		{"dpdk", "dpdk_1", 0}, {"dpdk", "dpdk_2", 0},
		{"dpdk", "dpdk_3", 0}, {"dpdk", "dpdk_4", 0},
		{"dpdk", "dpdk_5", 0}, {"dpdk", "dpdk_6", 0},
		{"sec", "sec_19", 0},  {"dpdk", "dpdk_10", CLEAR_FLOW},
		{"sec", "sec_31", 0},  {"dpdk", "dpdk_11", CLEAR_FLOW},
	};
	struct vector key, iv, clear, sent;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rte_mbuf *m;

		vector_part(cases[i].keys, "key", &key);
		vector_part(cases[i].keys, "iv", &iv);
		vector_part(cases[i].name, "clear", &clear);
		vector_part(cases[i].name, "sent", &sent);
		flow_make(cases[i].flow, key.bytes, iv.bytes, DOCSIS_MAC_HEADER);
		m = frame_of(clear.bytes, clear.size, cases[i].flow);
		expect(sent.bytes, sent.size);
		ds_encrypt_submit(&lower, &m, 1);
		collect_all();
		plain_result(clear.bytes, clear.size, cases[i].flow);
		assert_memory_equal(clear.bytes, sent.bytes, sent.size);
	}
}

/* Of so many frames, of which every second one is in the clear, the provider takes some, and fails at some of these. What
 * is refused was neither encrypted nor given its CRC, and is counted once. */
static void limited(uint16_t n, unsigned room, unsigned fails) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	unsigned taken = RTE_MIN(n, room), came = 0;
	const struct counters *c = &lower.counters;
	const uint8_t bytes[100] = {0};

	lower.counters = (struct counters){0};
	for (uint16_t i = 0; i < n; i++)
		pkts[i] = frame_of(bytes, sizeof(bytes), i % 2 ? 1 : CLEAR_FLOW);
	crypto_limit_begin(crypto, room, fails);
	assert_int_equal(ds_encrypt_submit(&lower, pkts, n), 0);
	assert_int_equal(lower.crypto->held, taken);
	assert_int_equal(rte_mempool_in_use_count(packets), taken);
	for (unsigned tries = 0; lower.crypto->held > 0 && tries < 1000; tries++) {
		uint16_t some = ds_encrypt_collect(&lower, pkts, 0);

		rte_pktmbuf_free_bulk(pkts, some);
		came += some;
	}
	crypto_limit_end();
	assert_int_equal(came, taken - fails);
	assert_int_equal(rte_mempool_in_use_count(packets), 0);
	assert_int_equal(c->drops[DROP_CRYPTO_FULL], n - taken);
	assert_int_equal(c->drops[DROP_CRYPTO_ERROR], fails);
	assert_int_equal(counters_dropped(c), n - taken + fails);
	assert_int_equal(c->values[COUNTER_ENCRYPTED], taken / 2);
	assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_128], taken / 2);
	assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_256], 0);
	assert_int_equal(c->values[COUNTER_CLEAR], taken - taken / 2);
	assert_int_equal(c->values[COUNTER_CRC_GENERATED], taken);
}

static void each_is_counted_once(void **state) {
	(void)state;
	limited(10, UINT32_MAX, 0);
	limited(10, 0, 0);
	limited(PIPELINE_BURST, 45, 0);
	limited(8, UINT32_MAX, 3);
}

/* Where no CRC is asked for, its place is zeros, encrypted as all is. */
static void without_crc(void **state) {
	uint8_t bytes[100];
	struct rte_mbuf *m;

	(void)state;
	memset(bytes, 0x5a, sizeof(bytes));
	lower.crypto_parts[CIPHER_NONE] = 0;
	m = frame_of(bytes, sizeof(bytes), CLEAR_FLOW);
	memset(bytes + 96, 0, ETHERNET_CRC_SIZE);
	expect(bytes, sizeof(bytes));
	ds_encrypt_submit(&lower, &m, 1);
	lower.crypto_parts[CIPHER_NONE] = CRYPTO_CRC;
	collect_all();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_implementation_is_right),
		cmocka_unit_test(every_size),
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(each_is_counted_once),
		cmocka_unit_test(without_crc),
		cmocka_unit_test(nothing_is_left),
	};

	return cmocka_run_group_tests(tests, open_all, fixture_stop);
}
