/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the files of the provider cryptodev share. */
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
#define CRYPTODEV_MADE 9 /* most devices: a scheduler and its workers */

struct cryptodev_queue;

struct cryptodev {
	struct crypto_provider provider;
	char name[RTE_CRYPTODEV_NAME_MAX_LEN];
	char made[CRYPTODEV_MADE][RTE_CRYPTODEV_NAME_MAX_LEN]; /* by this provider, in this order */
	bool runs;
	unsigned made_count;
	uint8_t id;
	void *security; /* NULL: the device only ciphers */
	struct crypto_crc *crc; /* for devices without CRC */
	uint32_t stepwise; /* a bit per cipher with two operations: cryptodev_steps.c */
	struct key_slots step_keys;
	int socket;
	unsigned in_flight, queues;
	uint64_t timeout; /* TSC cycles before frames are lost */
	/* Each twice as large as the previous one. */
	struct rte_mempool *sessions[CRYPTODEV_SESSION_POOLS];
	unsigned session_pools;
	unsigned
		session_parts; /* elements per session: a scheduler has those of its workers, too */
	/* By queue pair: open ones, and closed ones while the device still has operations of
	 * them. */
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

/* Finds or creates the device and reads its capabilities. Returns false after an error message.
 * The caller calls cryptodev_remove() in either case. */
bool cryptodev_find(struct cryptodev *c, const char *device, unsigned queues);

/* Configures and starts the device for up to `queues` queues of `in_flight` frames. Returns
 * false after an error message. */
bool cryptodev_start(struct cryptodev *c);

/* Removes the devices that it created. */
void cryptodev_remove(struct cryptodev *c);

#define SLOT_OFFSET (CRYPTODEV_IV_OFFSET + CRYPTO_IV_SIZE) /* of the frame's slot index */
/* of a saved block, upstream: cryptodev_steps.c */
#define SAVED_OFFSET (SLOT_OFFSET + sizeof(uint32_t))
#define OP_PRIVATE_SIZE (SAVED_OFFSET + CRYPTO_IV_SIZE - CRYPTODEV_IV_OFFSET)
#define NO_SLOT UINT32_MAX /* of a lost frame */

enum slot_state {
	SLOT_IN_FLIGHT,
	SLOT_GOOD,
	SLOT_CRC_WRONG,
	SLOT_FAILED,
	SLOT_LOST,
};

struct slot {
	struct rte_mbuf *m;
	struct rte_crypto_op *op; /* of a frame in flight */
	void *residual; /* session of the second operation, or NULL if none follows */
	uint16_t pdu; /* offset of a PDU whose CRC must be verified, plus one; 0: none */
	uint16_t state; /* enum slot_state */
};

struct cryptodev_queue {
	struct crypto_queue queue;
	enum crypto_direction direction;
	uint16_t pair;
	uint32_t head, tail, mask; /* slots of frames in the order of submission */
	uint32_t in_device; /* operations in the device, also of lost frames */
	bool closed; /* closed while the device had operations of it */
	bool unresponsive; /* the device does not answer: frames fail at once */
	bool answered; /* the device returned an operation since `wait_start` */
	uint32_t polls; /* polls without a result since `wait_start` */
	/* TSC when the frame at the head began to wait for the device; 0: no frame does */
	uint64_t wait_start;
	struct rte_mempool *pool;
	struct rte_crypto_op **ops; /* a stack of free operations */
	struct rte_crypto_op **next; /* second operations to submit */
	uint32_t free_ops, next_ops;
	struct slot slots[];
};

static inline struct cryptodev_queue *cryptodev_queue_of(struct crypto_queue *q) {
	return container_of(q, struct cryptodev_queue, queue);
}

static inline uint32_t *cryptodev_slot(struct rte_crypto_op *op) {
	return rte_crypto_op_ctod_offset(op, uint32_t *, SLOT_OFFSET);
}

/* Functions of a queue for struct crypto_functions. */
struct crypto_queue *cryptodev_queue_open(struct crypto_provider *p,
					  enum crypto_direction direction);
void cryptodev_queue_close(struct crypto_queue *queue);
uint16_t cryptodev_submit(struct crypto_queue *queue, const struct crypto_frame *frames,
			  uint16_t n);
uint16_t cryptodev_collect(struct crypto_queue *queue, struct rte_mbuf **good,
			   struct crypto_failed *failed, uint16_t *failures);

/* Dequeues operations of the device. Returns how many. */
uint16_t cryptodev_ops_end(struct cryptodev_queue *q);

/* Frees operations that closed queues left in the device. The device must be stopped. */
void cryptodev_queues_end(struct cryptodev *c);
