/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the queues of a device and its queue pairs, also while the device still has
 * operations of them. */
#include <stdio.h>

#include <rte_malloc.h>

#include "crypto/cryptodev_parts.h"

#include "platform/log/log.h"

static void ops_end_all(struct cryptodev_queue *q) {
	while (q->in_device + q->next_ops > 0 && cryptodev_ops_end(q) > 0)
		;
}

/* Frees the frames of a closed queue, at once or when the device returns them. */
static void frames_release(struct cryptodev_queue *q) {
	for (; q->head != q->tail; q->head++) {
		struct slot *p = &q->slots[q->head & q->mask];

		if (p->state == SLOT_IN_FLIGHT)
			*cryptodev_slot(p->op) = NO_SLOT;
		else
			rte_pktmbuf_free(p->m);
	}
}

/* Call it when the device has no operation of the queue, or has stopped. */
static void queue_free(struct cryptodev_queue *q) {
	struct cryptodev *c = cryptodev_of(q->queue.provider);

	c->pairs[q->pair] = NULL;
	if (q->free_ops > 0) /* all except those that the device has lost */
		rte_mempool_put_bulk(q->pool, (void **)q->ops, q->free_ops);
	rte_mempool_free(q->pool);
	rte_free(q->ops);
	rte_free(q);
}

static bool ops_make(struct cryptodev_queue *q, unsigned count) {
	const struct cryptodev *c = cryptodev_of(q->queue.provider);
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "crypto%u_ops%u", c->id, q->pair);
	q->pool = rte_crypto_op_pool_create(name, RTE_CRYPTO_OP_TYPE_SYMMETRIC, count, 0,
					    OP_PRIVATE_SIZE, c->socket);
	q->ops = rte_zmalloc_socket("crypto operations", 2 * count * sizeof(struct rte_crypto_op *),
				    0, c->socket);
	if (q->pool == NULL || q->ops == NULL)
		return false;
	q->next = q->ops + count;
	q->free_ops = rte_crypto_op_bulk_alloc(q->pool, RTE_CRYPTO_OP_TYPE_SYMMETRIC, q->ops,
					       (uint16_t)count);
	for (uint32_t i = 0; i < q->free_ops; i++)
		*cryptodev_slot(q->ops[i]) = 0;
	return q->free_ops == count;
}

/* Returns the first free queue pair, after freeing closed queues whose operations have returned.
 * Returns the number of pairs if none is free. */
static unsigned pair_find(struct cryptodev *c) {
	unsigned pair = 0;

	for (; pair < c->queues; pair++) {
		struct cryptodev_queue *left = c->pairs[pair];

		if (left != NULL && left->closed) {
			ops_end_all(left);
			if (left->in_device == 0)
				queue_free(left);
		}
		if (c->pairs[pair] == NULL)
			break;
	}
	return pair;
}

static struct cryptodev_queue *queue_alloc(struct cryptodev *c, enum crypto_direction direction,
					   unsigned pair) {
	uint32_t slots = rte_align32pow2(RTE_MAX(c->in_flight, CRYPTO_BURST));
	struct cryptodev_queue *q =
		rte_zmalloc_socket("crypto queue", sizeof(*q) + slots * sizeof(q->slots[0]),
				   RTE_CACHE_LINE_SIZE, c->socket);

	if (q == NULL)
		return NULL;
	q->queue.provider = &c->provider;
	q->direction = direction;
	q->pair = (uint16_t)pair;
	q->mask = slots - 1;
	if (ops_make(q, slots)) {
		c->pairs[pair] = q;
		return q;
	}
	queue_free(q);
	return NULL;
}

struct crypto_queue *cryptodev_queue_open(struct crypto_provider *p,
					  enum crypto_direction direction) {
	struct cryptodev *c = cryptodev_of(p);
	unsigned pair = pair_find(c);
	struct cryptodev_queue *q = pair == c->queues ? NULL : queue_alloc(c, direction, pair);

	if (q != NULL)
		return &q->queue;
	log_error("crypto", LOG_NO_FIELDS, "crypto device %s: %s", c->name,
		  pair == c->queues ? "no queue is left" : "no memory for a queue");
	return NULL;
}

void cryptodev_queue_close(struct crypto_queue *queue) {
	struct cryptodev_queue *q = cryptodev_queue_of(queue);

	frames_release(q);
	ops_end_all(q); /* then no second operation is pending */
	q->closed = true;
	if (q->in_device == 0)
		queue_free(q);
}

static void lost_free(struct rte_mempool *pool, void *opaque, void *op, unsigned index) {
	(void)pool;
	(void)opaque;
	(void)index;
	if (*cryptodev_slot(op) == NO_SLOT)
		rte_pktmbuf_free(((struct rte_crypto_op *)op)->sym->m_src);
}

void cryptodev_queues_end(struct cryptodev *c) {
	for (unsigned pair = 0; pair < c->queues; pair++) {
		if (c->pairs[pair] == NULL)
			continue;
		rte_mempool_obj_iter(c->pairs[pair]->pool, lost_free, NULL);
		queue_free(c->pairs[pair]);
	}
}
