/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The encrypt stages: published vectors, where CRC and encryption begin as the stage has them, and what becomes of frames
 * when the provider takes no more, or fails. Frames of every size are compared behind the port of a whole server, and
 * behind each provider (tests/unit/crypto).
 */
#include "test_main.h"

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
#include "vectors.h"

#define FRAMES 512
#define SIZE 100

enum { CLEAR, ENCRYPTED, FLOWS };

static struct crypto_provider *crypto;
static struct rte_mempool *packets;
static struct ds_flow flows[FLOWS];
static struct ds_tables tables = {.flows = flows, .flow_count = FLOWS};
static struct ds_lower lower = {.tables = &tables};

static void keys_end(void) {
	for (unsigned i = 0; i < FLOWS; i++)
		crypto_key_free(crypto, CRYPTO_DOWNLINK, flows[i].key.cipher,
				flows[i].key.schedule);
}

static void keys_make(const uint8_t *key, const uint8_t *iv) {
	keys_end();
	for (unsigned i = 0; i < FLOWS; i++) {
		enum cipher cipher = i == CLEAR ? CIPHER_NONE : CIPHER_AES_128;

		flows[i].header_size = DOCSIS_MAC_HEADER;
		memcpy(flows[i].key.iv, iv, 16);
		flows[i].key.cipher = (uint8_t)cipher;
		flows[i].key.schedule = crypto_key_make(crypto, CRYPTO_DOWNLINK, cipher, key);
		assert_non_null(flows[i].key.schedule);
	}
}

static int open_all(void **state) {
	static const uint8_t zeros[16];

	fixture_start(state);
	crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(crypto);
	packets = fixture_pool("packets", FRAMES, FIXTURE_ROOM);
	lower.crypto = crypto_queue_open(crypto, CRYPTO_DOWNLINK);
	assert_non_null(lower.crypto);
	for (enum cipher c = CIPHER_NONE; c < CIPHERS; c++)
		lower.crypto_parts[c] = c == CIPHER_NONE ? CRYPTO_CRC : CRYPTO_CRC | CRYPTO_CIPHER;
	keys_make(zeros, zeros);
	return 0;
}

static struct rte_mbuf *frame_of(const uint8_t *bytes, size_t size, uint32_t flow) {
	struct rte_mbuf *m = fixture_packet(packets, bytes, size);

	packet_meta(m)->flow = flow;
	return m;
}

/* Until the provider has nothing. Returns how many frames came, the last ones in `pkts`. */
static unsigned collect_all(struct rte_mbuf **pkts) {
	unsigned came = 0;

	for (unsigned tries = 0; lower.crypto->held > 0 && tries < 1000; tries++)
		came += ds_encrypt_collect(&lower, pkts + came, 0);
	assert_int_equal(lower.crypto->held, 0);
	return came;
}

/* One frame becomes this. */
static void expect(const uint8_t *bytes, const uint8_t *expected, size_t size, uint32_t flow) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY] = {frame_of(bytes, size, flow)};

	assert_int_equal(ds_encrypt_submit(&lower, pkts, 1), 0);
	assert_int_equal(collect_all(pkts), 1);
	fixture_check(pkts[0]);
	assert_int_equal(rte_pktmbuf_data_len(pkts[0]), size);
	assert_memory_equal(rte_pktmbuf_mtod(pkts[0], uint8_t *), expected, size);
	rte_pktmbuf_free(pkts[0]);
}

static void vector_part(const char *set, const char *part, struct vector *out) {
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", set, part);
	vector_get("bpi.txt", name, out);
}

/* The same of the plain implementation with which others compare. */
TEST(published_vectors) {
	static const struct {
		const char *keys, *name;
		unsigned flow;
	} cases[] = {
		{"dpdk", "dpdk_1", ENCRYPTED}, {"dpdk", "dpdk_2", ENCRYPTED},
		{"dpdk", "dpdk_3", ENCRYPTED}, {"dpdk", "dpdk_4", ENCRYPTED},
		{"dpdk", "dpdk_5", ENCRYPTED}, {"dpdk", "dpdk_6", ENCRYPTED},
		{"sec", "sec_19", ENCRYPTED},  {"dpdk", "dpdk_10", CLEAR},
		{"sec", "sec_31", ENCRYPTED},  {"dpdk", "dpdk_11", CLEAR},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct vector key, iv, clear, sent;
		uint8_t *pdu = clear.bytes + DOCSIS_MAC_HEADER;
		size_t size;

		vector_part(cases[i].keys, "key", &key);
		vector_part(cases[i].keys, "iv", &iv);
		vector_part(cases[i].name, "clear", &clear);
		vector_part(cases[i].name, "sent", &sent);
		keys_make(key.bytes, iv.bytes);
		expect(clear.bytes, sent.bytes, sent.size, cases[i].flow);
		size = clear.size - DOCSIS_MAC_HEADER;
		ethernet_crc_write(pdu, size - ETHERNET_CRC_SIZE);
		if (cases[i].flow == ENCRYPTED)
			bpi_encrypt(key.bytes, iv.bytes, pdu + DOCSIS_CLEAR_SIZE,
				    size - DOCSIS_CLEAR_SIZE);
		assert_memory_equal(clear.bytes, sent.bytes, sent.size);
	}
}

/* Of so many frames, of which every second one is in the clear, the provider takes some, and fails at some of these. What
 * is refused was neither encrypted nor given its CRC, and is counted once. */
TEST(each_is_counted_once) {
	static const struct {
		uint16_t n;
		unsigned room, fails;
	} cases[] = {{10, UINT32_MAX, 0}, {10, 0, 0}, {PIPELINE_BURST, 45, 0}, {8, UINT32_MAX, 3}};
	const uint8_t bytes[SIZE] = {0};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		unsigned taken = RTE_MIN(cases[i].n, cases[i].room), came;
		unsigned refused = cases[i].n - taken, fails = cases[i].fails;
		const struct counters *c = &lower.counters;
		struct rte_mbuf *pkts[2 * PIPELINE_CAPACITY];

		lower.counters = (struct counters){0};
		for (uint16_t k = 0; k < cases[i].n; k++)
			pkts[k] = frame_of(bytes, sizeof(bytes), k % 2 ? ENCRYPTED : CLEAR);
		crypto_limit_begin(crypto, cases[i].room, fails);
		assert_int_equal(ds_encrypt_submit(&lower, pkts, cases[i].n), 0);
		assert_int_equal(lower.crypto->held, taken);
		assert_int_equal(rte_mempool_in_use_count(packets), taken);
		came = collect_all(pkts);
		rte_pktmbuf_free_bulk(pkts, came);
		crypto_limit_end();
		assert_int_equal(came, taken - fails);
		assert_int_equal(rte_mempool_in_use_count(packets), 0);
		assert_int_equal(c->drops[DROP_CRYPTO_FULL], refused);
		assert_int_equal(c->drops[DROP_CRYPTO_ERROR], fails);
		assert_int_equal(counters_dropped(c), refused + fails);
		assert_int_equal(c->values[COUNTER_ENCRYPTED], taken / 2);
		assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_128], taken / 2);
		assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_256], 0);
		assert_int_equal(c->values[COUNTER_CLEAR], taken - taken / 2);
		assert_int_equal(c->values[COUNTER_CRC_GENERATED], taken);
	}
}

/* Where no CRC is asked for, its place is zeros, encrypted as all is. */
TEST(without_crc) {
	uint8_t bytes[SIZE], expected[SIZE] = {0};

	memset(bytes, 0x5a, sizeof(bytes));
	memcpy(expected, bytes, sizeof(bytes) - ETHERNET_CRC_SIZE);
	lower.crypto_parts[CIPHER_NONE] = 0;
	expect(bytes, expected, sizeof(bytes), CLEAR);
}

/* The last test of the group, as a failure in the end of a group would not count. */
TEST(nothing_is_left) {
	fixture_pool_end(packets);
	keys_end();
	assert_int_equal(crypto->keys, 0);
	crypto_queue_close(lower.crypto);
	crypto_close(crypto);
}

ALL_TESTS(open_all, fixture_stop)
