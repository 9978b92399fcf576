/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What encrypts, decrypts and makes CRCs, behind a handful of functions: a provider. Downstream and upstream do not
 * know which one it is.
 *
 *     crypto_key ---- stands in the record of a flow or a modem; the provider made its schedule
 *     crypto_frame -- what is to be done to one frame, with a pointer to that record
 *     crypto_queue -- of one pipeline: frames are submitted to it, and collected in the same order
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/group/security.h"
#include "wire/docsis_mac.h"

#define CRYPTO_BURST 64 /* frames that a queue takes at a time */
#define CRYPTO_IV_SIZE 16
#define CRYPTO_PDU_MIN 18 /* an Ethernet header and its CRC: of less the libraries make no CRC */

enum crypto_direction {
	CRYPTO_DOWNLINK, /* CRC generated, then encrypted: the CMTS sends, a modem receives */
	CRYPTO_UPLINK, /* decrypted, then CRC verified */
};

/* Two of a cache line. */
struct crypto_key {
	void *schedule; /* the provider's: round keys, or a session of its device */
	uint8_t iv[CRYPTO_IV_SIZE]; /* DES takes the first 8; read at submission only */
	uint8_t cipher; /* enum cipher */
	uint8_t sequence; /* the number that frames tell it by; of no meaning to providers */
};

enum crypto_parts {
	CRYPTO_CRC = 1, /* the Ethernet CRC, the last four bytes of the frame */
	CRYPTO_CIPHER = 2,
};

struct crypto_frame {
	struct rte_mbuf *m; /* all of it in one buffer */
	const struct crypto_key *key; /* as long as the frame is not collected */
	uint16_t pdu; /* where the CRC begins to count */
	uint16_t
		clear; /* where the cipher begins, beside a CRC at least 12 behind `pdu`; at the end or behind it: nowhere */
	uint16_t parts; /* enum crypto_parts */
};

/*
 * Whether a cipher makes the CRC beside itself: in a frame as DOCSIS has it, where all but the two addresses is encrypted,
 * and not of less than an Ethernet header. Elsewhere libraries are wrong at times, and one is made after the other.
 */
static inline bool crypto_crc_fits(const struct crypto_frame *f) {
	return f->clear == f->pdu + DOCSIS_CLEAR_SIZE && f->m->data_len - f->pdu >= CRYPTO_PDU_MIN;
}

enum crypto_failure {
	CRYPTO_FAILED_CRC, /* the frame's is another one, or the frame has no room for one */
	CRYPTO_FAILED, /* the provider says no more */
	CRYPTO_LOST, /* the device did not answer in time; its buffer stays out of its pool until the device is through with it */
};

struct crypto_failed {
	struct rte_mbuf *m;
	enum crypto_failure why;
};

struct crypto_queue {
	struct crypto_provider *provider;
	uint32_t held; /* submitted, not collected */
	bool fed; /* something was submitted since the last collection */
};

struct crypto_provider {
	const struct crypto_functions *functions;
	const char *name;
	uint32_t ciphers; /* a bit for each enum cipher */
	uint32_t keys; /* made, not freed */
	uint32_t crc_ciphers; /* those beside which it makes the CRC in one pass */
};

/* What a provider is made of. Keys and queues are the control thread's; a queue is fed and collected by one worker. */
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

/* The schedule of frames in the clear: not NULL, as NULL means that there is none. */
extern char crypto_clear;

/*
 * What frames of this key and direction need; `key` has cipher_key_size() bytes, and is copied. NULL when memory or the
 * device has no more, or the provider does not do this cipher. To be given to crypto_key_free() when no frame of it is in a queue.
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

/* NULL after a message. To be given to crypto_queue_close() when nothing is in it; frames that a device was
 * too slow with go with its queue. */
static inline struct crypto_queue *crypto_queue_open(struct crypto_provider *p,
						     enum crypto_direction direction) {
	return p->functions->queue_open(p, direction);
}

/* Ends what the provider has and frees it; keys and queues have been given back. */
static inline void crypto_close(struct crypto_provider *p) {
	p->functions->close(p);
}

static inline void crypto_queue_close(struct crypto_queue *q) {
	q->provider->functions->queue_close(q);
}

/*
 * Gives up to CRYPTO_BURST frames to the queue, which has them until they are collected. Returns how many it took, from
 * the first one on; those behind are the caller's.
 */
static inline uint16_t crypto_submit(struct crypto_queue *q, const struct crypto_frame *frames,
				     uint16_t n) {
	return n == 0 ? 0 : q->provider->functions->submit(q, frames, n);
}

/*
 * Takes what is done, in the order of submission: up to CRYPTO_BURST frames, of which `failures` are in `failed` (both
 * lists have that much room). Where nothing was submitted since the last call, what waits for more is done without it. Returns how many are good.
 */
static inline uint16_t crypto_collect(struct crypto_queue *q, struct rte_mbuf **good,
				      struct crypto_failed *failed, uint16_t *failures) {
	*failures = 0;
	return q->held == 0 ? 0 : q->provider->functions->collect(q, good, failed, failures);
}
