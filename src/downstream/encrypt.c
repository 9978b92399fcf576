/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encrypt: Ethernet CRC and BPI+ in one pass of the crypto device (rte_security, DOCSIS downlink).
 * The CRC covers the PDU; the cipher covers all of it but the two MAC addresses, CRC included
 * (SEC). Two rows of the list, as the device works while the next burst is prepared.
 */
#include <rte_cryptodev.h>
#include <rte_mbuf.h>

#include "downstream/downstream.h"
#include "downstream/stages.h"
#include "pipeline/packet.h"
#include "platform/crypto.h"

uint16_t ds_encrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct rte_crypto_op *ops[PIPELINE_BURST];
	uint64_t encrypted = 0;
	uint16_t taken;

	if (rte_crypto_op_bulk_alloc(l->crypto_ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops, n) != n) {
		for (uint16_t i = 0; i < n; i++)
			drop(&l->counters, pkts[i], DROP_NO_CRYPTO_OP);
		return 0;
	}
	for (uint16_t i = 0; i < n; i++) {
		const struct ds_flow *flow = &l->tables->flows[packet_meta(pkts[i])->flow];

		crypto_fill(ops[i], pkts[i], flow->header_size, flow->session, flow->iv,
			    flow->encrypted);
		encrypted += flow->encrypted;
	}
	taken = rte_cryptodev_enqueue_burst(l->crypto_device, l->crypto_queue, ops, n);
	for (uint16_t i = taken; i < n; i++) {
		encrypted -= l->tables->flows[packet_meta(pkts[i])->flow].encrypted;
		drop(&l->counters, pkts[i], DROP_CRYPTO_ERROR);
		rte_crypto_op_free(ops[i]);
	}
	l->in_crypto += taken;
	l->submitted += taken;
	count(&l->counters, COUNTER_ENCRYPTED, encrypted);
	count(&l->counters, COUNTER_CLEAR, taken - encrypted);
	return 0;
}

uint16_t ds_encrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct ds_lower *l = ctx;
	struct rte_crypto_op *ops[PIPELINE_BURST];
	uint16_t done, kept = 0;

	(void)n; /* the submit row leaves nothing */
	if (l->in_crypto == 0)
		return 0;
	done = rte_cryptodev_dequeue_burst(l->crypto_device, l->crypto_queue, ops, PIPELINE_BURST);
	l->in_crypto -= done;
	for (uint16_t i = 0; i < done; i++) {
		if (ops[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS)
			pkts[kept++] = ops[i]->sym->m_src;
		else
			drop(&l->counters, ops[i]->sym->m_src, DROP_CRYPTO_ERROR);
	}
	rte_mempool_put_bulk(l->crypto_ops, (void **)ops, done);
	return kept;
}
