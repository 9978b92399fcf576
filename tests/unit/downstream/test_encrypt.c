/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame and encrypt stages: room in front and behind to the byte; what becomes of frames when the provider takes no more,
 * or fails. What frames are like, to the last encrypted byte, is read by the kits' ends behind the port.
 */
#include "test_main.h"

#include "crypto/providers.h"
#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#include "crypto_limit.h"
#include "fixture.h"
#include "random.h"

#define FRAMES 512
#define SIZE 100

enum { CLEAR, ENCRYPTED, FLOWS };

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

static struct crypto_provider *crypto;
static struct rte_mempool *packets;
static struct ds_flow flows[FLOWS];
static struct ds_tables tables = {.flows = flows, .flow_count = FLOWS};
static struct ds_lower lower = {.tables = &tables};
static struct random rnd = {42};
static uint8_t sent[2][FIXTURE_ROOM];

static int open_all(void **state) {
	static const uint8_t key[16];

	fixture_start(state);
	crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(crypto);
	packets = fixture_pool("packets", FRAMES, FIXTURE_ROOM);
	lower.crypto = crypto_queue_open(crypto, CRYPTO_DOWNLINK);
	assert_non_null(lower.crypto);
	for (unsigned i = 0; i < FLOWS; i++) {
		enum cipher cipher = i == CLEAR ? CIPHER_NONE : CIPHER_AES_128;

		lower.crypto_parts[cipher] = i == CLEAR ? CRYPTO_CRC : CRYPTO_CRC | CRYPTO_CIPHER;
		ds_flow_set_header(&flows[i], &header);
		flows[i].key.cipher = (uint8_t)cipher;
		flows[i].key.schedule = crypto_key_make(crypto, CRYPTO_DOWNLINK, cipher, key);
		assert_non_null(flows[i].key.schedule);
	}
	return 0;
}

/* A packet that stands so that this many bytes are free in front of and behind it. */
static struct rte_mbuf *tight(unsigned which, unsigned front, unsigned behind) {
	size_t size = FIXTURE_ROOM - front - behind;
	struct rte_mbuf *m = rte_pktmbuf_alloc(packets);

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

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t dropped = lower.counters.drops[DROP_NO_ROOM];
		struct rte_mbuf *pkts[PIPELINE_CAPACITY] = {
			tight(0, cases[i].front, cases[i].behind), tight(1, 128, 1000)};
		uint16_t n = ds_frame(&lower, pkts, 2);

		assert_int_equal(n, 1 + cases[i].fits);
		assert_int_equal(lower.counters.drops[DROP_NO_ROOM], dropped + !cases[i].fits);
		if (cases[i].fits)
			check(pkts[0], 0, cases[i].front, cases[i].behind);
		check(pkts[n - 1], 1, 128, 1000);
	}
	assert_int_equal(lower.counters.values[COUNTER_FRAMED], ARRAY_COUNT(cases) + 1);
	assert_int_equal(rte_mempool_in_use_count(packets), 0);
}

static struct rte_mbuf *frame_of(const uint8_t *bytes, size_t size, uint32_t flow) {
	struct rte_mbuf *m = fixture_packet(packets, bytes, size);

	packet_meta(m)->flow = flow;
	return m;
}

/* Until the provider has nothing. Returns how many frames came, the last ones in `pkts`. */
static unsigned collect_all(struct rte_mbuf **pkts) {
	unsigned came = 0;

	for (unsigned tries = 0; lower.crypto->pending > 0 && tries < 1000; tries++)
		came += ds_encrypt_collect(&lower, pkts + came, 0);
	assert_int_equal(lower.crypto->pending, 0);
	return came;
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
		assert_int_equal(lower.crypto->pending, taken);
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
	static const uint8_t expected[SIZE];
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint8_t bytes[SIZE] = {0};

	memset(bytes + SIZE - ETHERNET_CRC_SIZE, 0x5a, ETHERNET_CRC_SIZE);
	pkts[0] = frame_of(bytes, SIZE, CLEAR);
	lower.crypto_parts[CIPHER_NONE] = 0;
	assert_int_equal(ds_encrypt_submit(&lower, pkts, 1), 0);
	assert_int_equal(collect_all(pkts), 1);
	assert_memory_equal(rte_pktmbuf_mtod(pkts[0], uint8_t *), expected, SIZE);
	rte_pktmbuf_free(pkts[0]);
}

/* The last test of the group, as a failure in the end of a group would not count. */
TEST(nothing_is_left) {
	fixture_pool_end(packets);
	for (unsigned i = 0; i < FLOWS; i++)
		crypto_key_free(crypto, CRYPTO_DOWNLINK, flows[i].key.cipher,
				flows[i].key.schedule);
	assert_int_equal(crypto->keys, 0);
	crypto_queue_close(lower.crypto);
	crypto_close(crypto);
}

ALL_TESTS(open_all, fixture_stop)
