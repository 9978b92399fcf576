/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of rte_security's DOCSIS protocol, downlink: CRC, then encryption, as a modem does. */
#include "modems/uplink_encrypt.h"

#include <rte_common.h>
#include <rte_cryptodev.h>

#define BURST 64

static void encrypt_op_fill(struct rte_crypto_op *op, const struct uplink_piece *piece) {
	struct rte_crypto_sym_op *sym = op->sym;

	rte_security_attach_session(op, piece->key->session);
	sym->m_src = piece->buffer;
	sym->m_dst = NULL;
	sym->auth.data.offset = piece->crc_at;
	sym->auth.data.length = piece->crc_size;
	sym->cipher.data.offset = piece->cipher_at;
	sym->cipher.data.length = piece->cipher_size;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, DOCSIS_IV_OFFSET), piece->key->iv,
	       DOCSIS_IV_SIZE);
}

static unsigned encrypt_submit(struct uplink_encryptor *e) {
	unsigned n = RTE_MIN(e->count - e->submitted, (unsigned)BURST);
	struct rte_crypto_op *ops[BURST];
	unsigned taken;

	if (n == 0 || rte_crypto_op_bulk_alloc(e->crypto->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops,
					       (uint16_t)n) != n)
		return 0;
	for (unsigned i = 0; i < n; i++)
		encrypt_op_fill(ops[i], &e->pieces[e->submitted + i]);
	taken = rte_cryptodev_enqueue_burst(e->crypto->device, e->queue, ops, (uint16_t)n);
	if (taken < n)
		rte_mempool_put_bulk(e->crypto->ops, (void **)&ops[taken], n - taken);
	e->submitted += taken;
	e->in_flight += taken;
	return taken;
}

static unsigned encrypt_collect(struct uplink_encryptor *e) {
	struct rte_crypto_op *ops[BURST];
	unsigned n;

	if (e->in_flight == 0)
		return 0;
	n = rte_cryptodev_dequeue_burst(e->crypto->device, e->queue, ops, BURST);
	for (unsigned i = 0; i < n; i++)
		e->errors += ops[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
	if (n > 0)
		rte_mempool_put_bulk(e->crypto->ops, (void **)ops, n);
	e->in_flight -= n;
	return n;
}

bool uplink_encrypt(struct uplink_encryptor *e) {
	while (e->submitted < e->count || e->in_flight > 0) {
		unsigned submitted = encrypt_submit(e);
		unsigned collected = encrypt_collect(e);

		if (submitted + collected == 0 && e->in_flight == 0)
			return false;
	}
	e->count = 0;
	e->submitted = 0;
	return true;
}

void uplink_encrypt_finish(struct uplink_encryptor *e) {
	while (e->in_flight > 0)
		encrypt_collect(e);
}
