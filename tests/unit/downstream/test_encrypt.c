/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the frame and encrypt stages: headroom and tailroom limits, and frames that the crypto
 * provider refuses or fails. Other tests compare the encrypted bytes at the port. */
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

/* The largest header: 17 bytes, with a privacy element. */
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
static struct random rng = {42};
static uint8_t sent[2][FIXTURE_BUFFER_SIZE];

static int open_all(void **state) {
	static const uint8_t key[16];

	fixture_start(state);
	crypto = crypto_standalone_open(SOCKET_ID_ANY);
	assert_non_null(crypto);
	packets = fixture_pool_create("packets", FRAMES, FIXTURE_BUFFER_SIZE);
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

static struct rte_mbuf *create_packet(unsigned which, unsigned headroom, unsigned tailroom) {
	size_t size = FIXTURE_BUFFER_SIZE - headroom - tailroom;
	struct rte_mbuf *m = rte_pktmbuf_alloc(packets);

	assert_non_null(m);
	m->data_off = (uint16_t)headroom;
	random_fill(&rng, sent[which], size);
	memcpy(rte_pktmbuf_append(m, (uint16_t)size), sent[which], size);
	packet_meta(m)->flow = 0;
	packet_meta(m)->sequence = (uint16_t)random_next(&rng);
	return m;
}

/* Checks that the frame is the header, the unchanged packet, and 4 bytes for the CRC. */
static void check_frame(struct rte_mbuf *m, unsigned which, unsigned headroom, unsigned tailroom) {
	struct docsis_down_header h = header;
	size_t size = FIXTURE_BUFFER_SIZE - headroom - tailroom, header_size;
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t expected[DOCSIS_DOWN_HEADER_MAX];

	h.sequence = packet_meta(m)->sequence;
	header_size = docsis_down_header_write(&h, size + ETHERNET_CRC_SIZE, expected);
	fixture_packet_check(m);
	assert_int_equal(rte_pktmbuf_data_len(m), header_size + size + ETHERNET_CRC_SIZE);
	assert_memory_equal(frame, expected, header_size);
	assert_memory_equal(frame + header_size, sent[which], size);
	rte_pktmbuf_free(m);
}

TEST(packet_needs_exact_headroom_and_tailroom) {
	static const struct {
		unsigned headroom, tailroom;
		bool fits;
	} cases[] = {
		{DS_FLOW_HEADER, ETHERNET_CRC_SIZE, true},
		{DS_FLOW_HEADER - 1, ETHERNET_CRC_SIZE, false},
		{DS_FLOW_HEADER, ETHERNET_CRC_SIZE - 1, false},
		{0, ETHERNET_CRC_SIZE, false},
		{DS_FLOW_HEADER, 0, false},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t dropped = lower.counters.drops[DROP_NO_SPACE];
		struct rte_mbuf *pkts[PIPELINE_CAPACITY] = {
			create_packet(0, cases[i].headroom, cases[i].tailroom),
			create_packet(1, 128, 1000)};
		uint16_t n = ds_frame(&lower, pkts, 2);

		assert_int_equal(n, 1 + cases[i].fits);
		assert_int_equal(lower.counters.drops[DROP_NO_SPACE], dropped + !cases[i].fits);
		if (cases[i].fits)
			check_frame(pkts[0], 0, cases[i].headroom, cases[i].tailroom);
		check_frame(pkts[n - 1], 1, 128, 1000);
	}
	assert_int_equal(lower.counters.values[COUNTER_FRAMED], ARRAY_COUNT(cases) + 1);
	assert_int_equal(rte_mempool_in_use_count(packets), 0);
}

static struct rte_mbuf *create_frame(const uint8_t *bytes, size_t size, uint32_t flow) {
	struct rte_mbuf *m = fixture_packet_create(packets, bytes, size);

	packet_meta(m)->flow = flow;
	return m;
}

/* Collects all frames of the provider to `pkts`. Returns their number. */
static unsigned collect_all(struct rte_mbuf **pkts) {
	unsigned received = 0;

	for (unsigned tries = 0; lower.crypto->pending > 0 && tries < 1000; tries++)
		received += ds_encrypt_collect(&lower, pkts + received, 0);
	assert_int_equal(lower.crypto->pending, 0);
	return received;
}

/* Half of the frames are in the clear. The provider accepts some of all frames, and fails some of
 * these. Each frame must be counted once, as done or dropped. */
TEST(each_frame_is_counted_once) {
	static const struct {
		uint16_t n;
		unsigned accepts, fails;
	} cases[] = {{10, UINT32_MAX, 0}, {10, 0, 0}, {PIPELINE_BURST, 45, 0}, {8, UINT32_MAX, 3}};
	const uint8_t bytes[SIZE] = {0};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		unsigned accepted = RTE_MIN(cases[i].n, cases[i].accepts), received;
		unsigned rejected = cases[i].n - accepted, fails = cases[i].fails;
		const struct counters *c = &lower.counters;
		struct rte_mbuf *pkts[2 * PIPELINE_CAPACITY];

		lower.counters = (struct counters){0};
		for (uint16_t k = 0; k < cases[i].n; k++)
			pkts[k] = create_frame(bytes, sizeof(bytes), k % 2 ? ENCRYPTED : CLEAR);
		crypto_limit_begin(crypto, cases[i].accepts, fails);
		assert_int_equal(ds_encrypt_submit(&lower, pkts, cases[i].n), 0);
		assert_int_equal(lower.crypto->pending, accepted);
		assert_int_equal(rte_mempool_in_use_count(packets), accepted);
		received = collect_all(pkts);
		rte_pktmbuf_free_bulk(pkts, received);
		crypto_limit_end();
		assert_int_equal(received, accepted - fails);
		assert_int_equal(rte_mempool_in_use_count(packets), 0);
		assert_int_equal(c->drops[DROP_CRYPTO_FULL], rejected);
		assert_int_equal(c->drops[DROP_CRYPTO_ERROR], fails);
		assert_int_equal(counters_dropped(c), rejected + fails);
		assert_int_equal(c->values[COUNTER_ENCRYPTED], accepted / 2);
		assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_128], accepted / 2);
		assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_256], 0);
		assert_int_equal(c->values[COUNTER_CLEAR], accepted - accepted / 2);
		assert_int_equal(c->values[COUNTER_CRC_GENERATED], accepted);
	}
}

TEST(crc_field_is_zero_without_generation) {
	static const uint8_t expected[SIZE];
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint8_t bytes[SIZE] = {0};

	memset(bytes + SIZE - ETHERNET_CRC_SIZE, 0x5a, ETHERNET_CRC_SIZE);
	pkts[0] = create_frame(bytes, SIZE, CLEAR);
	lower.crypto_parts[CIPHER_NONE] = 0;
	assert_int_equal(ds_encrypt_submit(&lower, pkts, 1), 0);
	assert_int_equal(collect_all(pkts), 1);
	assert_memory_equal(rte_pktmbuf_mtod(pkts[0], uint8_t *), expected, SIZE);
	rte_pktmbuf_free(pkts[0]);
}

/* Must be the last test: cmocka ignores failures of a group teardown. */
TEST(no_packet_or_key_leaks) {
	fixture_pool_free(packets);
	for (unsigned i = 0; i < FLOWS; i++)
		crypto_key_free(crypto, CRYPTO_DOWNLINK, flows[i].key.cipher,
				flows[i].key.schedule);
	assert_int_equal(crypto->keys, 0);
	crypto_queue_close(lower.crypto);
	crypto_close(crypto);
}

ALL_TESTS(open_all, fixture_stop)
