/* SPDX-License-Identifier: BSD-3-Clause */
#include "encrypt_bench.h"

#include <string.h>

#include "downstream/stages.h"
#include "pipeline/packet.h"

#include "fixture.h"
#include "test.h"

struct encrypt_bench encrypt_bench;

void encrypt_flow_make(unsigned flow, const uint8_t *key, const uint8_t *iv, uint8_t header_size) {
	struct encrypt_bench *b = &encrypt_bench;
	struct ds_flow *f = &b->flows[flow];

	enum cipher cipher = flow == ENCRYPT_CLEAR_FLOW ? CIPHER_NONE : CIPHER_AES_128;

	crypto_key_free(b->crypto, CRYPTO_DOWNLINK, f->key.cipher, f->key.schedule);
	memcpy(b->keys[flow], key, 16);
	memcpy(f->key.iv, iv, 16);
	f->header_size = header_size;
	f->key.cipher = (uint8_t)cipher;
	f->key.schedule = crypto_key_make(b->crypto, CRYPTO_DOWNLINK, cipher, key);
	assert_non_null(f->key.schedule);
}

void encrypt_flows_make(void) {
	static const uint8_t header_sizes[ENCRYPT_FLOWS] = {6, 11, 17, 14};
	uint8_t key[16], iv[16];

	for (unsigned i = 0; i < ENCRYPT_FLOWS; i++) {
		random_fill(&encrypt_bench.random, key, sizeof(key));
		random_fill(&encrypt_bench.random, iv, sizeof(iv));
		encrypt_flow_make(i, key, iv, header_sizes[i]);
	}
}

int encrypt_bench_open(void **state) {
	struct encrypt_bench *b = &encrypt_bench;

	fixture_start(state);
	b->random.state = 4711;
	b->crypto = crypto_apart_open(SOCKET_ID_ANY);
	assert_non_null(b->crypto);
	b->packets = fixture_pool("packets", ENCRYPT_PACKETS, FIXTURE_ROOM);
	b->tables.flows = b->flows;
	b->tables.flow_count = ENCRYPT_FLOWS;
	b->lower.tables = &b->tables;
	b->lower.crypto = crypto_queue_open(b->crypto, CRYPTO_DOWNLINK);
	assert_non_null(b->lower.crypto);
	for (enum cipher c = CIPHER_NONE; c < CIPHERS; c++)
		b->lower.crypto_parts[c] =
			c == CIPHER_NONE ? CRYPTO_CRC : CRYPTO_CRC | CRYPTO_CIPHER;
	encrypt_flows_make();
	return 0;
}

void encrypt_bench_end(void **state) {
	struct encrypt_bench *b = &encrypt_bench;

	(void)state;
	assert_int_equal(b->lower.crypto->held, 0);
	fixture_pool_end(b->packets);
	for (unsigned i = 0; i < ENCRYPT_FLOWS; i++)
		crypto_key_free(b->crypto, CRYPTO_DOWNLINK, b->flows[i].key.cipher,
				b->flows[i].key.schedule);
	assert_int_equal(b->crypto->keys, 0);
	crypto_queue_close(b->lower.crypto);
	crypto_close(b->crypto);
}

struct rte_mbuf *encrypt_frame(const uint8_t *bytes, size_t size, uint32_t flow) {
	struct rte_mbuf *m = fixture_packet(encrypt_bench.packets, bytes, size);

	packet_meta(m)->flow = flow;
	return m;
}

unsigned encrypt_collect(struct rte_mbuf **out) {
	struct ds_lower *l = &encrypt_bench.lower;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	unsigned n = 0;

	for (int tries = 0; l->crypto->held > 0 && tries < 1000; tries++) {
		uint16_t done = ds_encrypt_collect(l, pkts, 0);

		memcpy(out + n, pkts, done * sizeof(pkts[0]));
		n += done;
	}
	assert_int_equal(l->crypto->held, 0);
	return n;
}
