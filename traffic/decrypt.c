/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of rte_security's DOCSIS protocol, uplink: decrypt, then verify the CRC. */
#include "decrypt.h"

#include <string.h>

#include <rte_cryptodev.h>
#include <rte_prefetch.h>
#include <rte_security.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"

static void op_fill(struct rte_crypto_op *op, struct rte_mbuf *m, const struct modem_state *s) {
	crypto_fill(op, m, frame_info(m)->header_size, s->session, s->iv, s->encrypted);
}

unsigned decrypt_submit(struct decryptor *d, const struct modems *modems, struct rte_mbuf **frames,
			unsigned n) {
	struct rte_crypto_op *ops[DECRYPT_BURST];
	unsigned taken;

	if (n == 0 || rte_crypto_op_bulk_alloc(d->crypto->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops,
					       (uint16_t)n) != n)
		return 0;
	for (unsigned i = 0; i < n; i++)
		op_fill(ops[i], frames[i], &modems->all[frame_info(frames[i])->modem]);
	taken = rte_cryptodev_enqueue_burst(d->crypto->device, d->queue, ops, (uint16_t)n);
	if (taken < n)
		rte_mempool_put_bulk(d->crypto->ops, (void **)&ops[taken], n - taken);
	d->in_flight += taken;
	return taken;
}

unsigned decrypt_collect(struct decryptor *d, struct rte_mbuf **frames, enum decrypted *verdicts) {
	struct rte_crypto_op *ops[DECRYPT_BURST];
	unsigned n;

	if (d->in_flight == 0)
		return 0;
	n = rte_cryptodev_dequeue_burst(d->crypto->device, d->queue, ops, DECRYPT_BURST);
	for (unsigned i = 0; i < n; i++) {
		frames[i] = ops[i]->sym->m_src;
		rte_prefetch0(frame_info(frames[i]));
		switch (ops[i]->status) {
		case RTE_CRYPTO_OP_STATUS_SUCCESS: verdicts[i] = DECRYPTED_GOOD; break;
		case RTE_CRYPTO_OP_STATUS_AUTH_FAILED: verdicts[i] = DECRYPTED_BAD_CRC; break;
		default: verdicts[i] = DECRYPTED_ERROR;
		}
	}
	if (n > 0)
		rte_mempool_put_bulk(d->crypto->ops, (void **)ops, n);
	d->in_flight -= n;
	return n;
}
