/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue of a device: what its two files share. */
#pragma once

#include "crypto/cryptodev_parts.h"

#define PLACE_OFFSET (CRYPTODEV_IV_OFFSET + CRYPTO_IV_SIZE) /* of the frame's place in its ring */
#define SAVED_OFFSET (PLACE_OFFSET + sizeof(uint32_t)) /* of a block, upstream: cryptodev_steps.c */
#define OP_PRIVATE_SIZE (SAVED_OFFSET + CRYPTO_IV_SIZE - CRYPTODEV_IV_OFFSET)
#define NO_PLACE UINT32_MAX /* of a frame that is lost */

enum place_state {
	PLACE_FLYING,
	PLACE_GOOD,
	PLACE_CRC_WRONG,
	PLACE_FAILED,
	PLACE_LOST,
};

struct place {
	struct rte_mbuf *m;
	struct rte_crypto_op *op; /* of a frame that flies */
	void *rest; /* session of a second operation that is to come, or NULL */
	uint16_t pdu; /* where a CRC is to be compared, and one more; 0: none */
	uint16_t state; /* enum place_state */
};

struct cryptodev_queue {
	struct crypto_queue queue;
	enum crypto_direction direction;
	uint16_t pair;
	uint32_t head, tail, mask; /* places of frames in the order of submission */
	uint32_t in_device; /* operations, also of lost frames */
	bool closed; /* and the device had something of it */
	bool gone; /* the device: frames for it fail at once */
	bool came; /* something of it, since the time below */
	uint32_t polls; /* in vain, since then */
	uint64_t waits; /* TSC since which the frame at the head waits for it; 0: it does not */
	struct rte_mempool *pool;
	struct rte_crypto_op **ops; /* the free ones: a stack */
	struct rte_crypto_op **next; /* that are to go to the device once more */
	uint32_t free_ops, next_ops;
	struct place places[];
};

static inline struct cryptodev_queue *cryptodev_queue_of(struct crypto_queue *q) {
	return container_of(q, struct cryptodev_queue, queue);
}

static inline uint32_t *cryptodev_place(struct rte_crypto_op *op) {
	return rte_crypto_op_ctod_offset(op, uint32_t *, PLACE_OFFSET);
}

/* The first of the operations that a frame of a stepwise cipher takes; all else of it is filled. */
void cryptodev_step_first(const struct cryptodev_queue *q, struct rte_crypto_op *op,
			  const struct crypto_frame *f, struct place *p);

/* The second one, as the first has come back: it is given to the device by cryptodev_steps_give(). */
void cryptodev_step_next(struct cryptodev_queue *q, struct rte_crypto_op *op, struct place *p);
void cryptodev_steps_give(struct cryptodev_queue *q);

/* Takes what the device gives back. Returns how many operations it was. */
uint16_t cryptodev_ops_end(struct cryptodev_queue *q);
