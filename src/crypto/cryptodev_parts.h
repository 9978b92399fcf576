/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the provider cryptodev share. */
#pragma once

#include <rte_cryptodev.h>
#include <rte_mempool.h>

#include "crypto/crc.h"
#include "crypto/crypto.h"
#include "crypto/cryptodev.h"
#include "crypto/key_slots.h"

#define CRYPTODEV_IV_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define CRYPTODEV_SESSION_POOLS 16
#define CRYPTODEV_PAIRS 256
#define CRYPTODEV_MADE 9 /* a scheduler and its workers */

struct cryptodev_queue;

struct cryptodev {
	struct crypto_provider provider;
	char name[RTE_CRYPTODEV_NAME_MAX_LEN];
	char made[CRYPTODEV_MADE][RTE_CRYPTODEV_NAME_MAX_LEN]; /* by this provider, in this order */
	bool runs;
	unsigned made_count;
	uint8_t id;
	void *security; /* NULL: it ciphers, no more */
	struct crypto_crc *crc; /* where the device makes none */
	uint32_t stepwise; /* a bit for each cipher that takes two operations: cryptodev_steps.c */
	struct key_slots step_keys;
	int socket;
	unsigned in_flight, queues;
	uint64_t patience; /* cycles of the TSC */
	/* Each twice as large as the one before. */
	struct rte_mempool *sessions[CRYPTODEV_SESSION_POOLS];
	unsigned session_pools;
	unsigned
		session_parts; /* elements that a session takes: a scheduler's has its workers' beside it */
	/* By queue pair: open, or closed while the device had something of it. */
	struct cryptodev_queue *pairs[CRYPTODEV_PAIRS];
};

static inline struct cryptodev *cryptodev_of(struct crypto_provider *p) {
	return container_of(p, struct cryptodev, provider);
}

static inline bool cryptodev_crc_beside(const struct cryptodev *c, enum cipher cipher) {
	return (c->provider.crc_ciphers >> cipher & 1) != 0;
}

static inline bool cryptodev_stepwise(const struct cryptodev *c, enum cipher cipher) {
	return (c->stepwise >> cipher & 1) != 0;
}

/* Finds the device or makes it, and what it can do. Returns false after a message; cryptodev_leave() in any case. */
bool cryptodev_find(struct cryptodev *c, const char *device, unsigned queues);

/* Configures and starts it; `queues` and `in_flight` are what it is asked for. Returns false after a message. */
bool cryptodev_start(struct cryptodev *c);

/* What was made is no more. */
void cryptodev_leave(struct cryptodev *c);

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

/* The functions of a queue. */
struct crypto_queue *cryptodev_queue_open(struct crypto_provider *p,
					  enum crypto_direction direction);
void cryptodev_queue_close(struct crypto_queue *queue);
uint16_t cryptodev_submit(struct crypto_queue *queue, const struct crypto_frame *frames,
			  uint16_t n);
uint16_t cryptodev_collect(struct crypto_queue *queue, struct rte_mbuf **good,
			   struct crypto_failed *failed, uint16_t *failures);

/* Takes what the device gives back. Returns how many operations it was. */
uint16_t cryptodev_ops_end(struct cryptodev_queue *q);

/* Frees what closed queues left in the device, which is stopped. */
void cryptodev_queues_end(struct cryptodev *c);
