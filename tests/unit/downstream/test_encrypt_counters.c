/* SPDX-License-Identifier: BSD-3-Clause */
/* The encrypt stages: which packets are counted as encrypted, which as clear, and which as neither. */
#include "test.h"

#include "downstream/stages.h"

#include "crypto_limit.h"
#include "encrypt_bench.h"
#include "fixture.h"

#define ENCRYPTED_FLOW 1

static void submit(uint32_t flow, uint16_t n) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	uint8_t bytes[100] = {0};

	for (uint16_t i = 0; i < n; i++)
		pkts[i] = encrypt_frame(bytes, sizeof(bytes), flow);
	ds_encrypt_submit(&encrypt_bench.lower, pkts, n);
}

static void collect(unsigned n) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	assert_int_equal(encrypt_collect(pkts), n);
	rte_pktmbuf_free_bulk(pkts, n);
}

static void expect(uint64_t encrypted, uint64_t clear) {
	const struct counters *c = &encrypt_bench.lower.counters;

	assert_int_equal(c->values[COUNTER_ENCRYPTED], encrypted);
	assert_int_equal(c->values[COUNTER_CLEAR], clear);
}

static void each_by_its_flow(void **state) {
	(void)state;
	submit(ENCRYPT_CLEAR_FLOW, 5);
	collect(5);
	submit(ENCRYPTED_FLOW, 7);
	expect(7, 5);
	collect(7);
}

static void not_what_the_provider_refuses(void **state) {
	(void)state;
	encrypt_bench.lower.counters = (struct counters){0};
	crypto_limit_begin(encrypt_bench.crypto, 9, 0);
	submit(ENCRYPTED_FLOW, 10);
	crypto_limit_end();
	assert_int_equal(encrypt_bench.lower.counters.drops[DROP_CRYPTO_FULL], 1);
	expect(9, 0);
	collect(9);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_by_its_flow),
		cmocka_unit_test(not_what_the_provider_refuses),
		cmocka_unit_test(encrypt_bench_end),
	};

	return cmocka_run_group_tests(tests, encrypt_bench_open, fixture_stop);
}
