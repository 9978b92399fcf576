/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decrypt: key sequence and toggle choose one of the modem's two keys (SEC); BPI+ and, where asked, the
 * Ethernet CRC in one pass of the crypto device (rte_security, DOCSIS uplink). Two rows of the list,
 * as the device works while the next burst is prepared. Frames in the clear pass by.
 */
#include "upstream/decrypt.h"

#include <rte_cryptodev.h>

#include "platform/crypto.h"
#include "upstream/upstream.h"
#include "wire/crc32.h"

static const struct us_key *key_in(const struct us_key *keys, const struct us_meta *meta) {
	for (unsigned k = 0; k < US_GENERATIONS; k++) {
		if (keys[k].session != NULL && keys[k].sequence == meta->frame.key_sequence)
			return &keys[k];
	}
	return NULL;
}

static const struct us_key *key_of(const struct upstream *u, const struct us_flow *f,
				   const struct us_meta *meta) {
	const struct us_key *key, *retired;

	if (meta->frame.toggle != (meta->frame.key_sequence & 1))
		return NULL;
	key = key_in(f->keys, meta);
	if (key != NULL)
		return key;
	retired = u->tables.modems[f->modem].retired;
	return retired != NULL ? key_in(retired, meta) : NULL;
}

/* Whether privacy is as it must be. `key` is NULL for a frame in the clear. Returns the reason to drop
 * the frame, or DROP_NONE. */
static enum drop_reason frame_privacy(const struct upstream *u, const struct us_flow *f,
				      const struct us_meta *meta, const struct us_key **key) {
	*key = NULL;
	if (meta->frame.privacy && !us_flow_has_sid(f, meta->frame.sid))
		return DROP_PRIVACY_SID;
	if (!meta->frame.encrypted)
		return f->has_key ? DROP_PRIVACY_MISSING : DROP_NONE;
	*key = key_of(u, f, meta);
	return *key == NULL ? DROP_KEY_UNKNOWN : DROP_NONE;
}

/* Fragments are encrypted as a whole, and have a CRC of another kind, which is checked later. */
static void op_fill(const struct upstream *u, struct rte_crypto_op *op, struct rte_mbuf *m,
		    const struct us_key *key) {
	struct rte_crypto_sym_op *sym = op->sym;

	crypto_fill(op, m, 0, key->session, key->iv, true);
	if (us_meta(m)->frame.fragment) {
		sym->auth.data.length = 0;
		sym->cipher.data.offset = DOCSIS_FRAGMENT_CLEAR;
		sym->cipher.data.length = m->data_len - DOCSIS_FRAGMENT_CLEAR;
	} else if (!u->verify_crc) {
		sym->auth.data.length = 0;
	}
}

bool us_clear(struct upstream *u, struct rte_mbuf *m) {
	count(&u->counters, COUNTER_CLEAR, 1);
	if (!u->verify_crc || us_meta(m)->frame.fragment ||
	    ethernet_crc_good(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len))
		return true;
	drop(&u->counters, m, DROP_FRAME_CRC);
	return false;
}

/* Returns how many operations there were, at most `n`. */
static uint16_t ops_alloc(struct upstream *u, struct rte_crypto_op **ops, uint16_t n) {
	uint16_t got = 0;

	if (rte_crypto_op_bulk_alloc(u->r.crypto_ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, ops, n) == n)
		return n;
	while (got < n && (ops[got] = rte_crypto_op_alloc(u->r.crypto_ops,
							  RTE_CRYPTO_OP_TYPE_SYMMETRIC)) != NULL)
		got++;
	return got;
}

/* Gives the frames to the crypto device. */
static void ops_submit(struct upstream *u, struct rte_mbuf **pkts, const struct us_key **keys,
		       uint16_t n) {
	struct rte_crypto_op *ops[PIPELINE_BURST];
	uint16_t taken, wanted = n;

	n = ops_alloc(u, ops, n);
	for (uint16_t i = n; i < wanted; i++)
		drop(&u->counters, pkts[i], DROP_NO_CRYPTO_OP);
	for (uint16_t i = 0; i < n; i++)
		op_fill(u, ops[i], pkts[i], keys[i]);
	taken = rte_cryptodev_enqueue_burst(u->r.crypto_device, u->r.crypto_queue, ops, n);
	for (uint16_t i = taken; i < n; i++)
		drop(&u->counters, pkts[i], DROP_CRYPTO_ERROR);
	if (taken < n)
		rte_mempool_put_bulk(u->r.crypto_ops, (void **)&ops[taken], n - taken);
	u->decrypt.in_crypto += taken;
	count(&u->counters, COUNTER_DECRYPTED, taken);
}

uint16_t us_decrypt_submit(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	struct rte_mbuf *encrypted[PIPELINE_BURST];
	const struct us_key *keys[PIPELINE_BURST];
	uint16_t kept = 0, used = 0;

	for (uint16_t i = 0; i < n; i++) {
		const struct us_flow *f = &u->tables.flows[us_meta(pkts[i])->frame.flow];
		enum drop_reason reason = frame_privacy(u, f, us_meta(pkts[i]), &keys[used]);

		if (reason != DROP_NONE)
			drop(&u->counters, pkts[i], reason);
		else if (keys[used] != NULL)
			encrypted[used++] = pkts[i];
		else if (us_clear(u, pkts[i]))
			pkts[kept++] = pkts[i];
	}
	if (used > 0)
		ops_submit(u, encrypted, keys, used);
	return kept;
}

static enum drop_reason op_failure(const struct rte_crypto_op *op) {
	return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? DROP_FRAME_CRC : DROP_CRYPTO_ERROR;
}

uint16_t us_decrypt_collect(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	struct rte_crypto_op *ops[PIPELINE_BURST];
	uint16_t done;

	if (u->decrypt.in_crypto == 0)
		return n;
	done = rte_cryptodev_dequeue_burst(u->r.crypto_device, u->r.crypto_queue, ops,
					   PIPELINE_BURST);
	u->decrypt.in_crypto -= done;
	for (uint16_t i = 0; i < done; i++) {
		if (ops[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS)
			pkts[n++] = ops[i]->sym->m_src;
		else
			drop(&u->counters, ops[i]->sym->m_src, op_failure(ops[i]));
	}
	rte_mempool_put_bulk(u->r.crypto_ops, (void **)ops, done);
	return n;
}

void us_decrypt_stop(struct upstream *u) {
	struct rte_mbuf *pkts[PIPELINE_BURST];

	for (int tries = 0; u->decrypt.in_crypto > 0 && tries < 1000; tries++) {
		uint16_t n = us_decrypt_collect(u, pkts, 0);

		for (uint16_t i = 0; i < n; i++)
			drop(&u->counters, pkts[i], DROP_STOPPED);
	}
}
