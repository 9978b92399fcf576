/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Crypto providers encrypt, decrypt, and generate or verify CRCs. Downstream and upstream use any
 * provider by the same functions.
 *
 *     crypto_key      in the record of a flow or modem; the provider creates its schedule
 *     crypto_frame    one frame, its operations, and a pointer to its key
 *     crypto_queue    of one pipeline: frames are collected in the order of submission
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "model/group/security.h"
#include "wire/docsis_mac.h"

#define CRYPTO_BURST 64 /* most frames per submission and collection */
#define CRYPTO_IV_SIZE 16
/* an Ethernet header and its CRC: the libraries generate no CRC of less */
#define CRYPTO_PDU_MIN 18

enum crypto_direction {
	CRYPTO_DOWNLINK, /* CRC generated, then encrypted: from the CMTS to a modem */
	CRYPTO_UPLINK, /* decrypted, then CRC verified */
};

/* Two fit a cache line. */
struct crypto_key {
	void *schedule; /* of the provider: round keys, or a session of its device */
	uint8_t iv[CRYPTO_IV_SIZE]; /* DES uses the first 8; read at submission only */
	uint8_t cipher; /* enum cipher */
	uint8_t sequence; /* the key sequence number in frames; providers ignore it */
};

enum crypto_parts {
	CRYPTO_CRC = 1, /* the Ethernet CRC, the last four bytes of the frame */
	CRYPTO_CIPHER = 2,
};

struct crypto_frame {
	struct rte_mbuf *m; /* contiguous */
	const struct crypto_key *key; /* valid until the frame is collected */
	uint16_t pdu; /* offset of the first byte that the CRC covers */
	/* offset of the first encrypted byte, with a CRC at least `pdu` + 12; data_len or more: none */
	uint16_t clear;
	uint16_t parts; /* enum crypto_parts */
};

/*
 * Whether a cipher can process the CRC in the same pass: in a DOCSIS frame, which is encrypted
 * except for the two addresses, with at least an Ethernet header.
 *
 * In other cases some libraries return wrong results, so CRC and cipher take two passes.
 */
static inline bool crypto_crc_fits(const struct crypto_frame *f) {
	return f->clear == f->pdu + DOCSIS_CLEAR_SIZE && f->m->data_len - f->pdu >= CRYPTO_PDU_MIN;
}

enum crypto_failure {
	CRYPTO_FAILED_CRC, /* the CRC is wrong, or the frame is too short for one */
	CRYPTO_FAILED, /* the provider gives no reason */
	/* the device did not answer in time; the buffer is not free until the device returns it */
	CRYPTO_LOST,
};

struct crypto_failed {
	struct rte_mbuf *m;
	enum crypto_failure why;
};

struct crypto_queue {
	struct crypto_provider *provider;
	uint32_t pending; /* submitted, not collected */
	bool fed; /* frames were submitted since the last collection */
};

struct crypto_provider {
	const struct crypto_functions *functions;
	const char *name;
	uint32_t ciphers; /* a bit per enum cipher */
	uint32_t keys; /* existing keys */
	uint32_t crc_ciphers; /* those that it processes with the CRC in one pass */
};

/* The functions of a provider. The control thread alone creates and frees keys and queues; one
 * worker submits to and collects from a queue. */
struct crypto_functions {
	void *(*key_make)(struct crypto_provider *p, enum crypto_direction direction,
			  enum cipher cipher, const uint8_t *key);
	void (*key_free)(struct crypto_provider *p, enum crypto_direction direction,
			 enum cipher cipher, void *schedule);
	struct crypto_queue *(*queue_open)(struct crypto_provider *p,
					   enum crypto_direction direction);
	void (*queue_close)(struct crypto_queue *q);
	uint16_t (*submit)(struct crypto_queue *q, const struct crypto_frame *frames, uint16_t n);
	uint16_t (*collect)(struct crypto_queue *q, struct rte_mbuf **good,
			    struct crypto_failed *failed, uint16_t *failures);
	void (*close)(struct crypto_provider *p);
};

static inline bool crypto_can(const struct crypto_provider *p, enum cipher cipher) {
	return (p->ciphers >> cipher & 1) != 0;
}

/* The schedule of frames in the clear. It is not NULL, as NULL means that no schedule exists. */
extern char crypto_clear;

/*
 * Creates the schedule of a key for a direction; `key` has cipher_key_size() bytes, which are
 * copied.
 *
 * Returns NULL without memory, without a free session of the device, or if the provider lacks the
 * cipher. The caller gives the schedule to crypto_key_free() when no queue has a frame of it.
 */
static inline void *crypto_key_make(struct crypto_provider *p, enum crypto_direction direction,
				    enum cipher cipher, const uint8_t *key) {
	void *schedule;

	if (cipher == CIPHER_NONE)
		return &crypto_clear;
	schedule = crypto_can(p, cipher) ? p->functions->key_make(p, direction, cipher, key) : NULL;
	p->keys += schedule != NULL;
	return schedule;
}

static inline void crypto_key_free(struct crypto_provider *p, enum crypto_direction direction,
				   enum cipher cipher, void *schedule) {
	if (schedule == NULL || schedule == &crypto_clear)
		return;
	p->functions->key_free(p, direction, cipher, schedule);
	p->keys--;
}

#define CRYPTO_SCHEDULE_SIZE 176 /* bytes: 11 round keys of AES-128 */

/* Prefetches a key's schedule, some time before frames are submitted with it. */
static inline void crypto_key_prefetch(const struct crypto_key *key) {
	for (size_t at = 0; at < CRYPTO_SCHEDULE_SIZE; at += RTE_CACHE_LINE_SIZE)
		rte_prefetch0((const uint8_t *)key->schedule + at);
}

/* Returns NULL after an error message. The caller gives the queue to crypto_queue_close() when
 * it is empty. Frames that a slow device still has are freed with the queue. */
static inline struct crypto_queue *crypto_queue_open(struct crypto_provider *p,
						     enum crypto_direction direction) {
	return p->functions->queue_open(p, direction);
}

/* Frees the provider. The caller has freed its keys and queues. */
static inline void crypto_close(struct crypto_provider *p) {
	p->functions->close(p);
}

static inline void crypto_queue_close(struct crypto_queue *q) {
	q->provider->functions->queue_close(q);
}

/* Submits up to CRYPTO_BURST frames, which the queue owns until they are collected. Returns how
 * many, from the first, it accepted; the caller keeps the others. */
static inline uint16_t crypto_submit(struct crypto_queue *q, const struct crypto_frame *frames,
				     uint16_t n) {
	return n == 0 ? 0 : q->provider->functions->submit(q, frames, n);
}

/*
 * Collects completed frames in the order of submission, up to CRYPTO_BURST. Returns the number of
 * good ones; `failures` more are in `failed`. Both arrays have CRYPTO_BURST elements.
 *
 * If none was submitted since the last call, it completes frames that would wait for others.
 */
static inline uint16_t crypto_collect(struct crypto_queue *q, struct rte_mbuf **good,
				      struct crypto_failed *failed, uint16_t *failures) {
	*failures = 0;
	return q->pending == 0 ? 0 : q->provider->functions->collect(q, good, failed, failures);
}
