/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DOCSIS AES for devices with CBC and CTR only. CBC processes the whole blocks. The bytes of a
 * partial last block are XORed with the encrypted previous block of ciphertext, or with the
 * encrypted initialization vector if there is none (SEC, 7.3). That equals CTR with this block as
 * its counter.
 *
 *     | IV |  block  |  block  | rest |
 *          |------ CBC --------|
 *                    | counter | CTR  |
 *
 * Each frame takes two operations in sequence. Downstream, CBC produces the counter. Upstream, CBC
 * overwrites the counter, so it is saved before.
 */
#include <string.h>

#include "crypto/cryptodev_steps.h"

#define BLOCK 16u

_Static_assert(BLOCK == CRYPTO_IV_SIZE, "a block of AES is its counter");

static uint8_t *saved_of(struct rte_crypto_op *op) {
	return rte_crypto_op_ctod_offset(op, uint8_t *, SAVED_OFFSET);
}

void cryptodev_step_first(const struct cryptodev_queue *q, struct rte_crypto_op *op,
			  const struct crypto_frame *f, struct slot *p) {
	const struct step_key *key = f->key->schedule;
	uint32_t length = op->sym->cipher.data.length, whole = length - length % BLOCK;

	rte_crypto_op_attach_sym_session(op, whole == 0 ? key->residual : key->blocks);
	if (whole == 0 || whole == length)
		return;
	op->sym->cipher.data.length = whole;
	p->residual = key->residual;
	if (q->direction == CRYPTO_UPLINK)
		memcpy(saved_of(op),
		       rte_pktmbuf_mtod_offset(f->m, uint8_t *, f->clear + whole - BLOCK), BLOCK);
}

void cryptodev_step_next(struct cryptodev_queue *q, struct rte_crypto_op *op, struct slot *p) {
	struct rte_crypto_sym_op *sym = op->sym;
	uint32_t done = sym->cipher.data.offset + sym->cipher.data.length;
	const uint8_t *counter = q->direction == CRYPTO_UPLINK
					 ? saved_of(op)
					 : rte_pktmbuf_mtod_offset(p->m, uint8_t *, done - BLOCK);

	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, CRYPTODEV_IV_OFFSET), counter, BLOCK);
	op->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	rte_crypto_op_attach_sym_session(op, p->residual);
	sym->cipher.data.offset = done;
	sym->cipher.data.length = p->m->data_len - done;
	p->residual = NULL;
	q->next[q->next_ops++] = op;
}

/* Frees second operations of frames that were lost while they waited; the device does not have
 * them. */
static void lost_end(struct cryptodev_queue *q) {
	uint32_t kept = 0;

	for (uint32_t i = 0; i < q->next_ops; i++) {
		struct rte_crypto_op *op = q->next[i];

		if (likely(*cryptodev_slot(op) != NO_SLOT)) {
			q->next[kept++] = op;
			continue;
		}
		rte_pktmbuf_free(op->sym->m_src);
		*cryptodev_slot(op) = 0;
		q->ops[q->free_ops++] = op;
	}
	q->next_ops = kept;
}

void cryptodev_steps_submit(struct cryptodev_queue *q) {
	const struct cryptodev *c = cryptodev_of(q->queue.provider);
	uint16_t n;

	lost_end(q);
	n = q->next_ops == 0 ? 0
			     : rte_cryptodev_enqueue_burst(
				       c->id, q->pair, q->next,
				       (uint16_t)RTE_MIN(q->next_ops, (uint32_t)CRYPTO_BURST));
	q->in_device += n;
	q->next_ops -= n;
	memmove(q->next, q->next + n, q->next_ops * sizeof(q->next[0]));
}

struct step_key *cryptodev_step_key_make(struct cryptodev *c, struct step_key key) {
	struct step_key *made = NULL;

	if (key.blocks != NULL && key.residual != NULL)
		made = key_slots_alloc(&c->step_keys);
	if (made != NULL)
		*made = key;
	else
		cryptodev_step_key_end(c, &key);
	return made;
}

void cryptodev_step_key_end(struct cryptodev *c, const struct step_key *key) {
	if (key->blocks != NULL)
		rte_cryptodev_sym_session_free(c->id, key->blocks);
	if (key->residual != NULL)
		rte_cryptodev_sym_session_free(c->id, key->residual);
}
