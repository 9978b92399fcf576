/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue of a provider with random frames in it: each is made with what the model makes of it, and compared when it is
 * collected, in its order, with every byte around it.
 */
#pragma once

#include "crypto/crypto.h"

#include "random.h"

#define RIG_ROOM 16384u /* of a buffer */
#define RIG_FRAMES 1024u /* in a queue, a power of two */
#define RIG_KEYS 6u /* of each cipher */
#define RIG_ANY -1

/* A device that does all ciphers; and its like, for workers of a scheduler. */
#ifndef VCMTS_NO_IPSEC_MB
#define RIG_DRIVER "crypto_aesni_mb"
#else
#define RIG_DRIVER "crypto_openssl"
#endif
#define RIG_DEVICE RIG_DRIVER "7"
#define RIG_SCHEDULER "crypto_scheduler0,worker=" RIG_DRIVER "8,worker=" RIG_DRIVER "9"

struct rig_shape {
	unsigned size_min, size_max; /* behind `pdu` */
	int cipher, parts, align; /* or RIG_ANY */
};

struct rig_frame {
	struct crypto_frame frame;
	bool good; /* by the model */
	uint8_t before[RIG_ROOM], after[RIG_ROOM]; /* the whole buffer */
};

struct crypto_rig {
	struct crypto_provider *provider;
	enum crypto_direction direction;
	struct crypto_queue *queue;
	struct rte_mempool *pool;
	struct random random;
	struct crypto_key keys[CIPHERS][RIG_KEYS];
	uint8_t key_bytes[CIPHERS][RIG_KEYS][32];
	unsigned given, taken, done; /* made, submitted, collected */
	unsigned crc_wrong, failed, lost; /* of those */
	bool may_fail; /* frames may fail or be lost, of which the test knows how many */
	struct rig_frame *frames;
};

/* Opens a queue and makes keys. The test fails where it cannot. */
void rig_open(struct crypto_rig *r, struct crypto_provider *p, enum crypto_direction direction,
	      uint64_t seed);

/* Makes a frame that is to be submitted; there must be room. */
void rig_make(struct crypto_rig *r, const struct rig_shape *shape);

/* Submits at most `n` of those made. Returns how many were taken. */
unsigned rig_submit(struct crypto_rig *r, unsigned n);

/* Collects once. Returns how many frames came, good or not. */
unsigned rig_collect(struct crypto_rig *r);

/* Makes and submits `n`, at most CRYPTO_BURST at a time with a collection behind each. */
void rig_feed(struct crypto_rig *r, unsigned n, const struct rig_shape *shape);

/* Collects until nothing is left, and nothing is waiting to be submitted. */
void rig_drain(struct crypto_rig *r);

/* All is collected: gives keys and queue back. Buffers that the device may still have are told by the pool's count. */
void rig_close(struct crypto_rig *r);

/* Buffers that are not in the pool. */
unsigned rig_held(const struct crypto_rig *r);

/* Frees the pool, of which nothing is out. */
void rig_end(struct crypto_rig *r);
