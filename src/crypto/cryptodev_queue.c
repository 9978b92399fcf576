/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of a device: a ring of frames that are collected at its head. Frames that the device
 * returns out of order wait in the ring.
 *
 *     head -----------------------------------------> tail
 *     | good | in flight | good | wrong CRC | in flight |
 *       out     wait for the device
 *
 * A frame that the device does not return in time is lost, and collected as a failure. The device
 * may still write to it. So the queue keeps the operation and a reference to the buffer until the
 * device returns the operation or is stopped.
 */
#include <string.h>

#include <rte_cycles.h>
#include <rte_security.h>

#include "crypto/cryptodev_parts.h"
#include "crypto/cryptodev_steps.h"
#include "wire/crc32.h"

#define POLLS_MIN 1000 /* so that a stalled worker does not count as a silent device */

static bool ciphered(const struct crypto_frame *f) {
	return (f->parts & CRYPTO_CIPHER) && f->key->cipher != CIPHER_NONE &&
	       f->m->data_len > f->clear;
}

/* Whether the device processes the CRC in the same pass. */
static bool crc_beside(const struct cryptodev *c, const struct crypto_frame *f) {
	return (f->parts & CRYPTO_CRC) && ciphered(f) && cryptodev_crc_beside(c, f->key->cipher) &&
	       crypto_crc_fits(f);
}

static void op_fill(const struct cryptodev_queue *q, struct rte_crypto_op *op,
		    const struct crypto_frame *f, struct slot *slot, bool crc) {
	const struct cryptodev *c = cryptodev_of(q->queue.provider);
	struct rte_crypto_sym_op *sym = op->sym;
	uint32_t size = f->m->data_len;

	op->status = RTE_CRYPTO_OP_STATUS_NOT_PROCESSED;
	sym->m_src = f->m;
	sym->m_dst = NULL;
	sym->auth.data.offset = f->pdu;
	sym->auth.data.length = crc ? size - f->pdu - ETHERNET_CRC_SIZE : 0;
	sym->cipher.data.offset = f->clear;
	sym->cipher.data.length = size - f->clear;
	memcpy(rte_crypto_op_ctod_offset(op, uint8_t *, CRYPTODEV_IV_OFFSET), f->key->iv,
	       CRYPTO_IV_SIZE);
	*cryptodev_slot(op) = (uint32_t)(slot - q->slots); /* less than NO_SLOT */
	if (cryptodev_crc_beside(c, f->key->cipher))
		rte_security_attach_session(op, f->key->schedule);
	else if (likely(!cryptodev_stepwise(c, f->key->cipher)))
		rte_crypto_op_attach_sym_session(op, f->key->schedule);
	else
		cryptodev_step_first(q, op, f, slot);
}

/* A CRC that the device does not process: written at once downstream, verified at collection
 * upstream. */
static void crc_separate(const struct cryptodev_queue *q, const struct crypto_frame *f,
			 struct slot *p) {
	uint8_t *pdu = rte_pktmbuf_mtod_offset(f->m, uint8_t *, f->pdu);
	int residual = f->m->data_len - f->pdu - ETHERNET_CRC_SIZE;

	if (q->direction == CRYPTO_UPLINK)
		p->pdu = (uint16_t)(f->pdu + 1);
	else if (residual >= 0)
		crypto_crc_write(cryptodev_of(q->queue.provider)->crc, pdu, (size_t)residual);
}

static bool fits_crc(const struct crypto_frame *f) {
	return !(f->parts & CRYPTO_CRC) || f->m->data_len >= f->pdu + ETHERNET_CRC_SIZE;
}

/* Assigns a slot to the frame, and an operation if the device is needed. Returns false if none
 * is free. */
static bool frame_put(struct cryptodev_queue *q, const struct crypto_frame *f,
		      struct rte_crypto_op **op) {
	const struct cryptodev *c = cryptodev_of(q->queue.provider);
	struct slot *slot = &q->slots[q->tail & q->mask];
	bool fits = fits_crc(f), submits = ciphered(f), beside = crc_beside(c, f);

	*op = NULL;
	if (q->tail - q->head > q->mask || (submits && !q->unresponsive && q->free_ops == 0))
		return false;
	slot->m = f->m;
	slot->residual = NULL;
	slot->pdu = 0;
	slot->state = fits ? SLOT_GOOD : SLOT_CRC_WRONG;
	if (submits && unlikely(q->unresponsive)) {
		slot->state = SLOT_LOST;
	} else if (submits) {
		*op = slot->op = q->ops[--q->free_ops];
		op_fill(q, *op, f, slot, beside);
		slot->state = SLOT_IN_FLIGHT;
	}
	if (unlikely(!beside) && (f->parts & CRYPTO_CRC) && fits)
		crc_separate(q, f, slot);
	q->tail++;
	return true;
}

/* Whether the frame at the head has waited too long for the device. */
static bool timed_out(struct cryptodev_queue *q) {
	uint64_t now = rte_rdtsc();

	if (q->wait_start == 0) {
		q->wait_start = now;
		q->polls = 0;
		q->answered = false;
	}
	return ++q->polls > POLLS_MIN &&
	       now - q->wait_start > cryptodev_of(q->queue.provider)->timeout;
}

/* Submits operations; the caller keeps frames that the device did not accept. Returns how many
 * frames the queue has accepted. */
static uint16_t ops_submit(struct cryptodev_queue *q, struct rte_crypto_op **ops, uint16_t count,
			   uint32_t first) {
	const struct cryptodev *c = cryptodev_of(q->queue.provider);
	uint16_t accepted =
		count == 0 ? 0 : rte_cryptodev_enqueue_burst(c->id, q->pair, ops, count);

	q->in_device += accepted;
	if (unlikely(accepted < count)) {
		q->tail = first + ((*cryptodev_slot(ops[accepted]) - first) & q->mask);
		for (uint16_t i = accepted; i < count; i++)
			q->ops[q->free_ops++] = ops[i];
	}
	return (uint16_t)(q->tail - first);
}

/* Each submission retries a silent device, unless it still has earlier operations, which
 * must return first. */
static uint16_t submit_unresponsive(struct cryptodev_queue *q, const struct crypto_frame *frames,
				    uint16_t n, uint16_t kept) {
	struct rte_crypto_op *none;

	q->unresponsive = true;
	while (kept < n && frame_put(q, &frames[kept], &none))
		kept++;
	return kept;
}

uint16_t cryptodev_submit(struct crypto_queue *queue, const struct crypto_frame *frames,
			  uint16_t n) {
	struct cryptodev_queue *q = cryptodev_queue_of(queue);
	struct rte_crypto_op *ops[CRYPTO_BURST];
	bool empty = q->head == q->tail, retry = q->unresponsive && q->in_device == 0;
	uint32_t first = q->tail;
	uint16_t count = 0, placed = 0, kept;

	q->unresponsive = q->unresponsive && !retry;
	for (; placed < n && frame_put(q, &frames[placed], &ops[count]); placed++)
		count += ops[count] != NULL;
	kept = ops_submit(q, ops, count, first);
	if (unlikely(retry && kept < placed))
		kept = submit_unresponsive(q, frames, n, kept);
	if (empty && kept > 0)
		q->wait_start = 0;
	else if (empty && timed_out(q))
		q->unresponsive = true;
	queue->pending += kept;
	queue->fed = true;
	return kept;
}

static enum slot_state state_of(const struct rte_crypto_op *op) {
	if (likely(op->status == RTE_CRYPTO_OP_STATUS_SUCCESS))
		return SLOT_GOOD;
	return op->status == RTE_CRYPTO_OP_STATUS_AUTH_FAILED ? SLOT_CRC_WRONG : SLOT_FAILED;
}

uint16_t cryptodev_ops_end(struct cryptodev_queue *q) {
	const struct cryptodev *c = cryptodev_of(q->queue.provider);
	struct rte_crypto_op *ops[CRYPTO_BURST];
	uint16_t n = rte_cryptodev_dequeue_burst(c->id, q->pair, ops, CRYPTO_BURST);

	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = *cryptodev_slot(ops[i]);
		struct slot *p = at == NO_SLOT ? NULL : &q->slots[at];

		if (unlikely(p == NULL)) {
			rte_pktmbuf_free(ops[i]->sym->m_src);
		} else if (likely(p->residual == NULL) || state_of(ops[i]) != SLOT_GOOD) {
			p->state = (uint16_t)state_of(ops[i]);
		} else {
			cryptodev_step_next(q, ops[i], p);
			continue;
		}
		*cryptodev_slot(ops[i]) = 0;
		q->ops[q->free_ops++] = ops[i];
	}
	q->in_device -= n;
	if (n > 0) {
		q->answered = true;
		q->unresponsive = false;
	}
	if (unlikely(q->next_ops > 0))
		cryptodev_steps_submit(q);
	return n;
}

static void frame_lose(struct slot *p) {
	if (p->state != SLOT_IN_FLIGHT)
		return;
	p->state = SLOT_LOST;
	*cryptodev_slot(p->op) = NO_SLOT;
	rte_mbuf_refcnt_update(p->m, 1);
}

/* Marks the frame at the head as lost; or all frames, if the device returned nothing during the
 * timeout. */
static void frames_lose(struct cryptodev_queue *q) {
	uint32_t end = q->answered ? q->head + 1 : q->tail;

	for (uint32_t at = q->head; at != end; at++)
		frame_lose(&q->slots[at & q->mask]);
	q->unresponsive = !q->answered;
	q->wait_start = 0;
}

static bool crc_good(const struct cryptodev_queue *q, const struct slot *p) {
	const uint8_t *data = rte_pktmbuf_mtod(p->m, const uint8_t *);

	return p->pdu == 0 || crypto_crc_good(cryptodev_of(q->queue.provider)->crc,
					      data + p->pdu - 1, p->m->data_len - (p->pdu - 1u));
}

static enum crypto_failure failure_of(enum slot_state state) {
	if (state == SLOT_LOST)
		return CRYPTO_LOST;
	return state == SLOT_CRC_WRONG ? CRYPTO_FAILED_CRC : CRYPTO_FAILED;
}

uint16_t cryptodev_collect(struct crypto_queue *queue, struct rte_mbuf **good,
			   struct crypto_failed *failed, uint16_t *failures) {
	struct cryptodev_queue *q = cryptodev_queue_of(queue);
	uint16_t n = 0, out = 0;

	cryptodev_ops_end(q);
	/* the first call submitted second operations, which software devices complete at once */
	if (unlikely(cryptodev_of(queue->provider)->stepwise != 0))
		cryptodev_ops_end(q);
	for (; out < CRYPTO_BURST && q->head != q->tail; out++, q->head++) {
		struct slot *p = &q->slots[q->head & q->mask];

		if (p->state == SLOT_IN_FLIGHT)
			break;
		if (p->state == SLOT_GOOD && unlikely(!crc_good(q, p)))
			p->state = SLOT_CRC_WRONG;
		if (likely(p->state == SLOT_GOOD))
			good[n++] = p->m;
		else
			failed[(*failures)++] = (struct crypto_failed){p->m, failure_of(p->state)};
	}
	if (out > 0)
		q->wait_start = 0;
	else if (unlikely(timed_out(q)))
		frames_lose(q);
	queue->pending -= out;
	queue->fed = false;
	return n;
}
