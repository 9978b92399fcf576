/* SPDX-License-Identifier: BSD-3-Clause */
/* The encrypt stages: order across bursts, and what happens when operations or the device run out. */
#include "test.h"

#include <rte_crypto.h>
#include <rte_cryptodev.h>

#include "downstream/stages.h"
#include "pipeline/packet.h"

#include "encrypt_bench.h"
#include "fixture.h"

/* Bursts overlap in the device: what comes out first was put in first. */
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

static void no_operation_is_free(void **state) {
	struct counters *c = &encrypt_bench.lower.counters;
	struct rte_crypto_op *ops[ENCRYPT_OPS];

	(void)state;
	*c = (struct counters){0};
	assert_int_equal(rte_crypto_op_bulk_alloc(encrypt_bench.crypto.ops,
						  RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops, ENCRYPT_OPS),
			 ENCRYPT_OPS);
	assert_int_equal(submit(10), 0);
	rte_mempool_put_bulk(encrypt_bench.crypto.ops, (void **)ops, ENCRYPT_OPS);
	assert_int_equal(c->drops[DROP_NO_CRYPTO_OP], 10);
	assert_int_equal(counters_dropped(c), 10);
	assert_int_equal(c->values[COUNTER_ENCRYPTED] + c->values[COUNTER_CLEAR], 0);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), 0);
}

/* The device's queue holds ENCRYPT_OPS - 1: the last of ENCRYPT_OPS frames is refused and counted once. */
static void device_is_full(void **state) {
	struct counters *c = &encrypt_bench.lower.counters;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	unsigned n;

	(void)state;
	*c = (struct counters){0};
	for (unsigned i = 0; i < ENCRYPT_OPS; i += PIPELINE_BURST)
		submit(PIPELINE_BURST);
	assert_int_equal(c->drops[DROP_CRYPTO_ERROR], 1);
	assert_int_equal(counters_dropped(c), 1);
	assert_int_equal(encrypt_bench.lower.in_crypto, ENCRYPT_OPS - 1);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), ENCRYPT_OPS - 1);
	n = encrypt_collect(pkts);
	assert_int_equal(n, ENCRYPT_OPS - 1);
	rte_pktmbuf_free_bulk(pkts, n);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), 0);
	/* what was refused was neither encrypted nor given its CRC */
	assert_int_equal(c->values[COUNTER_ENCRYPTED], ENCRYPT_OPS / 2 - 1);
	assert_int_equal(c->values[COUNTER_CLEAR], ENCRYPT_OPS / 2);
}

/* An operation that the device cannot do, as it has no session, among others. */
static void device_fails(void **state) {
	struct ds_lower *l = &encrypt_bench.lower;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];
	struct rte_crypto_op *op;
	uint8_t bytes[100] = {0};
	unsigned n;

	(void)state;
	l->counters = (struct counters){0};
	submit(4);
	op = rte_crypto_op_alloc(encrypt_bench.crypto.ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
	assert_non_null(op);
	op->sess_type = RTE_CRYPTO_OP_WITH_SESSION;
	op->sym->session = NULL;
	op->sym->m_src = encrypt_frame(bytes, sizeof(bytes), 1);
	assert_int_equal(rte_cryptodev_enqueue_burst(l->crypto_device, l->crypto_queue, &op, 1), 1);
	l->in_crypto++;
	submit(4);
	n = encrypt_collect(pkts);
	assert_int_equal(n, 8);
	assert_int_equal(l->counters.drops[DROP_CRYPTO_ERROR], 1);
	rte_pktmbuf_free_bulk(pkts, n);
	assert_int_equal(rte_mempool_in_use_count(encrypt_bench.packets), 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_kept_across_bursts),
		cmocka_unit_test(no_operation_is_free),
		cmocka_unit_test(device_is_full),
		cmocka_unit_test(device_fails),
		cmocka_unit_test(encrypt_bench_end),
	};

	return cmocka_run_group_tests(tests, encrypt_bench_open, fixture_stop);
}
