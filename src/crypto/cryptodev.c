/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPDK crypto device. Where it does DOCSIS (rte_security), it makes CRC and cipher in one pass; where it only ciphers, the
 * CRC is made here. What comes back out of order is put in order again: a queue is a ring of frames, of which those at its
 * head are collected.
 */
#include "crypto/cryptodev.h"

#include <stdio.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_security.h>

#include "wire/crc32.h"

#define IV_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define PLACE_OFFSET (IV_OFFSET + CRYPTO_IV_SIZE) /* of the frame's place in its ring */
#define PRIVATE_SIZE (CRYPTO_IV_SIZE + sizeof(uint32_t))

enum place_state {
	PLACE_FLYING,
	PLACE_GOOD,
	PLACE_CRC_WRONG,
	PLACE_FAILED,
};

struct place {
	struct rte_mbuf *m;
	uint16_t pdu; /* where a CRC is to be compared, and one more; 0: none */
	uint16_t state; /* enum place_state */
};

struct cryptodev_queue {
	struct crypto_queue queue;
	enum crypto_direction direction;
	uint16_t pair;
	uint32_t head, tail, mask; /* places of frames in the order of submission */
	struct place places[];
};

struct cryptodev {
	struct crypto_provider provider;
	char name[RTE_CRYPTODEV_NAME_MAX_LEN];
	bool made; /* a vdev of this provider's */
	uint8_t id;
	void *security; /* NULL: it ciphers, no more */
	uint32_t crc_ciphers; /* a bit for each cipher beside which it makes the CRC */
	struct rte_mempool *ops, *sessions;
	int socket;
	unsigned in_flight, queues;
	uint64_t open_pairs[4]; /* a bit each */
};

static struct cryptodev *of_provider(struct crypto_provider *p) {
	return container_of(p, struct cryptodev, provider);
}

static struct cryptodev_queue *of_queue(struct crypto_queue *q) {
	return container_of(q, struct cryptodev_queue, queue);
}

static struct rte_crypto_sym_xform cipher_xform(enum crypto_direction direction, enum cipher cipher,
						const uint8_t *key) {
	return (struct rte_crypto_sym_xform){
		.type = RTE_CRYPTO_SYM_XFORM_CIPHER,
		.cipher = {
			.op = direction == CRYPTO_DOWNLINK ? RTE_CRYPTO_CIPHER_OP_ENCRYPT
							   : RTE_CRYPTO_CIPHER_OP_DECRYPT,
			.algo = cipher == CIPHER_DES ? RTE_CRYPTO_CIPHER_DES_DOCSISBPI
						     : RTE_CRYPTO_CIPHER_AES_DOCSISBPI,
			.key = {.data = key, .length = (uint16_t)crypto_key_size(cipher)},
			.iv = {.offset = IV_OFFSET, .length = cipher == CIPHER_DES ? 8 : 16},
		},
	};
}

static void *security_session(struct cryptodev *c, enum crypto_direction direction,
			      struct rte_crypto_sym_xform *cipher) {
	struct rte_security_session_conf conf = {
		.action_type = RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL,
		.protocol = RTE_SECURITY_PROTOCOL_DOCSIS,
		.docsis = {.direction = direction == CRYPTO_DOWNLINK
						? RTE_SECURITY_DOCSIS_DOWNLINK
						: RTE_SECURITY_DOCSIS_UPLINK},
		.crypto_xform = cipher,
	};

	return rte_security_session_create(c->security, &conf, c->sessions);
}

static bool in_security(const struct cryptodev *c, enum cipher cipher) {
	return (c->crc_ciphers >> cipher & 1) != 0;
}

static void *key_make(struct crypto_provider *p, enum crypto_direction direction,
		      enum cipher cipher, const uint8_t *key) {
	struct cryptodev *c = of_provider(p);
	struct rte_crypto_sym_xform xform = cipher_xform(direction, cipher, key);

	return in_security(c, cipher) ? security_session(c, direction, &xform)
				      : rte_cryptodev_sym_session_create(c->id, &xform, c->sessions);
}

static void key_free(struct crypto_provider *p, enum crypto_direction direction,
		     enum cipher cipher, void *schedule) {
	struct cryptodev *c = of_provider(p);

	(void)direction;
	if (in_security(c, cipher))
		rte_security_session_destroy(c->security, schedule);
	else
		rte_cryptodev_sym_session_free(c->id, schedule);
}

/* Whether the CRC is made here: beside this cipher the device has none, or there is less than an Ethernet header. */
static bool crc_apart(const struct cryptodev *c, const struct crypto_frame *f) {
	return (f->parts & CRYPTO_CRC) != 0 &&
	       (!in_security(c, f->key->cipher) ||
		f->m->data_len - f->pdu < CRYPTO_PDU_MIN);
}

static bool ciphered(const struct crypto_frame *f) {
	return (f->parts & CRYPTO_CIPHER) != 0 && f->key->cipher != CIPHER_NONE &&
	       f->m->data_len > f->clear;
}

static void op_fill(const struct cryptodev *c, struct rte_crypto_op *op,
		    const struct crypto_frame *f, uint32_t place, bool crc) {
	struct rte_crypto_sym_op *sym = op->sym;
	uint32_t size = f->m->data_len;

	if (in_security(c, f->key->cipher))
		rte_security_attach_session(op, f->key->schedule);
	else
		rte_crypto_op_attach_sym_session(op, f->key->schedule);
	sym->m_src = f->m;
	sym->m_dst = NULL;
	sym->auth.data.offset = f->pdu;
	sym->auth.data.length = crc ? size - f->pdu - ETHERNET_CRC_SIZE : 0;
	sym->cipher.data.offset = f->clear;
	sym->cipher.data.length = ciphered(f) ? size - f->clear : 0;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, IV_OFFSET), f->key->iv, CRYPTO_IV_SIZE);
	*rte_crypto_op_ctod_offset(op, uint32_t *, PLACE_OFFSET) = place;
}

/* Gives the frame a place, and an operation where the device has something to do. Returns false where there is none left. */
static bool frame_place(struct cryptodev_queue *q, const struct crypto_frame *f,
			struct rte_crypto_op **op) {
	struct cryptodev *c = of_provider(q->queue.provider);
	bool apart = crc_apart(c, f), crc = (f->parts & CRYPTO_CRC) && !apart;
	struct place *place = &q->places[q->tail & q->mask];

	*op = NULL;
	if (q->tail - q->head > q->mask)
		return false;
	if (ciphered(f) || crc) {
		*op = rte_crypto_op_alloc(c->ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
		if (*op == NULL)
			return false;
		op_fill(c, *op, f, q->tail, crc);
	}
	place->m = f->m;
	place->state = *op == NULL ? PLACE_GOOD : PLACE_FLYING;
	place->pdu = apart && q->direction == CRYPTO_UPLINK ? f->pdu + 1 : 0;
	if (apart && q->direction == CRYPTO_DOWNLINK)
		ethernet_crc_write(rte_pktmbuf_mtod_offset(f->m, uint8_t *, f->pdu),
				   f->m->data_len - f->pdu - ETHERNET_CRC_SIZE);
	q->tail++;
	return true;
}

static uint16_t submit(struct crypto_queue *queue, const struct crypto_frame *frames, uint16_t n) {
	struct cryptodev_queue *q = of_queue(queue);
	const struct cryptodev *c = of_provider(queue->provider);
	struct rte_crypto_op *ops[CRYPTO_BURST];
	uint32_t first = q->tail;
	uint16_t count = 0, taken, kept;

	for (kept = 0; kept < n && frame_place(q, &frames[kept], &ops[count]); kept++)
		count += ops[count] != NULL;
	taken = rte_cryptodev_enqueue_burst(c->id, q->pair, ops, count);
	if (unlikely(taken < count)) {
		q->tail = *rte_crypto_op_ctod_offset(ops[taken], uint32_t *, PLACE_OFFSET);
		rte_mempool_put_bulk(c->ops, (void **)&ops[taken], count - taken);
		kept = (uint16_t)(q->tail - first);
	}
	queue->held += kept;
	queue->fed = true;
	return kept;
}

static enum place_state state_of(const struct rte_crypto_op *op) {
	if (likely(op->status == RTE_CRYPTO_OP_STATUS_SUCCESS))
		return PLACE_GOOD;
	return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? PLACE_CRC_WRONG : PLACE_FAILED;
}

static void ops_end(struct cryptodev_queue *q) {
	const struct cryptodev *c = of_provider(q->queue.provider);
	struct rte_crypto_op *ops[CRYPTO_BURST];
	uint16_t n = rte_cryptodev_dequeue_burst(c->id, q->pair, ops, CRYPTO_BURST);

	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = *rte_crypto_op_ctod_offset(ops[i], uint32_t *, PLACE_OFFSET);

		q->places[at & q->mask].state = (uint16_t)state_of(ops[i]);
	}
	if (n > 0)
		rte_mempool_put_bulk(c->ops, (void **)ops, n);
}

static bool crc_good(const struct place *p) {
	const uint8_t *data = rte_pktmbuf_mtod(p->m, const uint8_t *);

	return p->pdu == 0 ||
	       ethernet_crc_good(data + p->pdu - 1, p->m->data_len - (p->pdu - 1u));
}

static uint16_t collect(struct crypto_queue *queue, struct rte_mbuf **good,
			struct crypto_failed *failed, uint16_t *failures) {
	struct cryptodev_queue *q = of_queue(queue);
	uint16_t n = 0, out = 0;

	ops_end(q);
	for (; out < CRYPTO_BURST && q->head != q->tail; out++, q->head++) {
		struct place *p = &q->places[q->head & q->mask];

		if (p->state == PLACE_FLYING)
			break;
		if (p->state == PLACE_GOOD && unlikely(!crc_good(p)))
			p->state = PLACE_CRC_WRONG;
		if (likely(p->state == PLACE_GOOD))
			good[n++] = p->m;
		else
			failed[(*failures)++] = (struct crypto_failed){
				p->m, p->state == PLACE_CRC_WRONG ? CRYPTO_FAILED_CRC : CRYPTO_FAILED};
	}
	queue->held -= out;
	queue->fed = false;
	return n;
}
