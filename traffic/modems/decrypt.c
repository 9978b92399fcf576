/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of rte_security's DOCSIS protocol, uplink: decrypt, then verify the CRC. */
#include "modems/decrypt.h"

#include <string.h>

#include <rte_cryptodev.h>
#include <rte_prefetch.h>
#include <rte_security.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"

static void decrypt_op_fill(struct rte_crypto_op *op, struct rte_mbuf *m) {
	const struct frame_info *info = frame_info(m);

	crypto_fill(op, m, info->header_size, info->key->session, info->key->iv,
		    info->modem->encrypted);
}

/* Returns how many it took, from the first on. */
static unsigned decrypt_submit(struct decryptor *d, struct rte_mbuf **frames, unsigned n) {
	struct rte_crypto_op *ops[DECRYPT_BURST];
	unsigned taken;

	if (n == 0 || rte_crypto_op_bulk_alloc(d->crypto->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops,
					       (uint16_t)n) != n)
		return 0;
	for (unsigned i = 0; i < n; i++)
		decrypt_op_fill(ops[i], frames[i]);
	taken = rte_cryptodev_enqueue_burst(d->crypto->device, d->queue, ops, (uint16_t)n);
	if (taken < n)
		rte_mempool_put_bulk(d->crypto->ops, (void **)&ops[taken], n - taken);
	return taken;
}

static enum decrypted verdict(const struct rte_crypto_op *op) {
	switch (op->status) {
	case RTE_CRYPTO_OP_STATUS_SUCCESS: return DECRYPTED_GOOD;
	case RTE_CRYPTO_OP_STATUS_AUTH_FAILED: return DECRYPTED_BAD_CRC;
	default: return DECRYPTED_ERROR;
	}
}

static unsigned decrypt_collect(struct decryptor *d) {
	struct rte_crypto_op *ops[DECRYPT_BURST];
	unsigned n = rte_cryptodev_dequeue_burst(d->crypto->device, d->queue, ops, DECRYPT_BURST);

	for (unsigned i = 0; i < n; i++)
		frame_info(ops[i]->sym->m_src)->decrypted = (uint8_t)verdict(ops[i]);
	if (n > 0)
		rte_mempool_put_bulk(d->crypto->ops, (void **)ops, n);
	return n;
}

void decrypt(struct decryptor *d, struct rte_mbuf **frames, unsigned n) {
	unsigned submitted = 0, collected = 0;

	for (unsigned i = 0; i < n; i++)
		frame_info(frames[i])->decrypted = DECRYPTED_ERROR;
	while (collected < n) {
		submitted += decrypt_submit(d, frames + submitted, n - submitted);
		/* With nothing on the device, it refuses the rest. */
		if (submitted == collected)
			return;
		collected += decrypt_collect(d);
	}
}
