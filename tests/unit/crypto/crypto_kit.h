/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue of a provider with random frames in it: each is made with what the model makes of it, and compared when it is
 * collected, in its order, with every byte around it.
 */
#pragma once

#include "crypto/crypto.h"

#include "random.h"

#define KIT_ROOM 16384u /* of a buffer */
#define KIT_FRAMES 1024u /* in a queue, a power of two */
#define KIT_KEYS 6u /* of each cipher */
#define KIT_ANY -1
#define KIT_CIPHERED -2 /* any cipher but none */

/* A device that does all ciphers; and its like, for workers of a scheduler. */
#ifndef VCMTS_NO_IPSEC_MB
#define KIT_DRIVER "crypto_aesni_mb"
#else
#define KIT_DRIVER "crypto_openssl"
#endif
#define KIT_DEVICE KIT_DRIVER "7"
#define KIT_SCHEDULER "crypto_scheduler0,worker=" KIT_DRIVER "8,worker=" KIT_DRIVER "9"

struct kit_shape {
	unsigned size_min, size_max; /* behind `pdu` */
	int cipher, parts, align; /* or KIT_ANY */
};

struct kit_frame {
	struct crypto_frame frame;
	bool good; /* by the model */
	uint8_t before[KIT_ROOM], after[KIT_ROOM]; /* the whole buffer */
};

struct crypto_kit {
	struct crypto_provider *provider;
	enum crypto_direction direction;
	struct crypto_queue *queue;
	struct rte_mempool *pool;
	struct random random;
	struct crypto_key keys[CIPHERS][KIT_KEYS];
	uint8_t key_bytes[CIPHERS][KIT_KEYS][32];
	unsigned given, taken, done; /* made, submitted, collected */
	unsigned crc_wrong, failed, lost; /* of those */
	bool may_fail; /* frames may fail or be lost, of which the test knows how many */
	struct kit_frame *frames;
};

/* Opens a queue and makes keys. The test fails where it cannot. */
void kit_open(struct crypto_kit *r, struct crypto_provider *p, enum crypto_direction direction,
	      uint64_t seed);

/* Makes a frame that is to be submitted; there must be room. */
void kit_make(struct crypto_kit *r, const struct kit_shape *shape);

/* Submits at most `n` of those made. Returns how many were taken. */
unsigned kit_submit(struct crypto_kit *r, unsigned n);

/* Collects once. Returns how many frames came, good or not. */
unsigned kit_collect(struct crypto_kit *r);

/* Makes and submits `n`, at most CRYPTO_BURST at a time with a collection behind each. */
void kit_feed(struct crypto_kit *r, unsigned n, const struct kit_shape *shape);

/* Collects until nothing is left, and nothing is waiting to be submitted. */
void kit_drain(struct crypto_kit *r);

/* All is collected: gives keys and queue back. Buffers that the device may still have are told by the pool's count. */
void kit_close(struct crypto_kit *r);

/* Buffers that are not in the pool. */
unsigned kit_held(const struct crypto_kit *r);

/* Frees the pool, of which nothing is out. */
void kit_end(struct crypto_kit *r);
