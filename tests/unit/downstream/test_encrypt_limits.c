/* SPDX-License-Identifier: BSD-3-Clause */
/* The encrypt stages: order across bursts, and what happens when the provider takes no more, or fails. */
#include "test.h"

#include "downstream/stages.h"
#include "pipeline/packet.h"

#include "wire/crc32.h"

#include "crypto_limit.h"
#include "encrypt_bench.h"
#include "fixture.h"

/* Bursts overlap in the provider: what comes out first was put in first. */
static void order_is_kept_across_bursts(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY], *out[PIPELINE_CAPACITY];
	unsigned sent = 0, back = 0;
	uint8_t bytes[600] = {0};

	(void)state;
	while (back < 2000) {
		uint16_t n = (uint16_t)random_between(&encrypt_bench.random, 1, 20);

		for (uint16_t i = 0; i < n; i++) {
			size_t size = random_between(&encrypt_bench.random, 40, 600);

			pkts[i] = encrypt_frame(bytes, size, sent % ENCRYPT_FLOWS);
			packet_meta(pkts[i])->modem = sent++;
		}
		ds_encrypt_submit(&encrypt_bench.lower, pkts, n);
		n = ds_encrypt_collect(&encrypt_bench.lower, pkts, 0);
		memcpy(out, pkts, n * sizeof(pkts[0]));
		if (random_below(&encrypt_bench.random, 4) == 0)
			n += (uint16_t)encrypt_collect(out + n);
		for (uint16_t i = 0; i < n; i++) {
			assert_int_equal(packet_meta(out[i])->modem, back++);
			rte_pktmbuf_free(out[i]);
		}
	}
	for (unsigned n = encrypt_collect(out), i = 0; i < n; i++) {
		assert_int_equal(packet_meta(out[i])->modem, back++);
		rte_pktmbuf_free(out[i]);
	}
	assert_int_equal(back, sent);
}

/* Every second one is in the clear. */
static uint16_t submit(uint16_t n) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint8_t bytes[100] = {0};

	for (uint16_t i = 0; i < n; i++)
		pkts[i] = encrypt_frame(bytes, sizeof(bytes), i % 2 ? 1 : ENCRYPT_CLEAR_FLOW);
	return ds_encrypt_submit(&encrypt_bench.lower, pkts, n);
}

static void provider_takes_nothing(void **state) {
	struct counters *c = &encrypt_bench.lower.counters;

	(void)state;
	*c = (struct counters){0};
	crypto_limit_begin(encrypt_bench.crypto, 0, 0);
	assert_int_equal(submit(10), 0);
	crypto_limit_end();
	assert_int_equal(c->drops[DROP_CRYPTO_FULL], 10);
	assert_int_equal(counters_dropped(c), 10);
	assert_int_equal(c->values[COUNTER_ENCRYPTED] + c->values[COUNTER_CLEAR], 0);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), 0);
}

/* What is refused was neither encrypted nor given its CRC, and is counted once. */
static void provider_is_full(void **state) {
	struct counters *c = &encrypt_bench.lower.counters;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	unsigned n;

	(void)state;
	*c = (struct counters){0};
	crypto_limit_begin(encrypt_bench.crypto, 45, 0);
	submit(PIPELINE_BURST);
	crypto_limit_end();
	assert_int_equal(c->drops[DROP_CRYPTO_FULL], PIPELINE_BURST - 45);
	assert_int_equal(counters_dropped(c), PIPELINE_BURST - 45);
	assert_int_equal(encrypt_bench.lower.crypto->held, 45);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), 45);
	n = encrypt_collect(pkts);
	assert_int_equal(n, 45);
	rte_pktmbuf_free_bulk(pkts, n);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), 0);
	assert_int_equal(c->values[COUNTER_ENCRYPTED], 22);
	assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_128], 22);
	assert_int_equal(c->values[COUNTER_ENCRYPTED_AES_256], 0);
	assert_int_equal(c->values[COUNTER_CLEAR], 23);
}

static void provider_fails(void **state) {
	struct ds_lower *l = &encrypt_bench.lower;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	unsigned n;

	(void)state;
	l->counters = (struct counters){0};
	crypto_limit_begin(encrypt_bench.crypto, UINT32_MAX, 3);
	submit(8);
	n = encrypt_collect(pkts);
	crypto_limit_end();
	assert_int_equal(n, 5);
	assert_int_equal(l->counters.drops[DROP_CRYPTO_ERROR], 3);
	assert_int_equal(counters_dropped(&l->counters), 3);
	rte_pktmbuf_free_bulk(pkts, n);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), 0);
}

/* Where no CRC is asked for, its place is zeros, encrypted as all is. */
static void without_crc(void **state) {
	static const uint8_t zeros[ETHERNET_CRC_SIZE];
	struct ds_lower *l = &encrypt_bench.lower;
	struct rte_mbuf *m, *out[PIPELINE_CAPACITY];
	uint8_t bytes[100];

	(void)state;
	memset(bytes, 0x5a, sizeof(bytes));
	l->crypto_parts[CIPHER_NONE] = 0;
	m = encrypt_frame(bytes, sizeof(bytes), ENCRYPT_CLEAR_FLOW);
	ds_encrypt_submit(l, &m, 1);
	l->crypto_parts[CIPHER_NONE] = CRYPTO_CRC;
	assert_int_equal(encrypt_collect(out), 1);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), bytes, 96);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 96), zeros, sizeof(zeros));
	rte_pktmbuf_free(m);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_kept_across_bursts),
		cmocka_unit_test(provider_takes_nothing),
		cmocka_unit_test(provider_is_full),
		cmocka_unit_test(provider_fails),
		cmocka_unit_test(without_crc),
		cmocka_unit_test(encrypt_bench_end),
	};

	return cmocka_run_group_tests(tests, encrypt_bench_open, fixture_stop);
}
