/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue of a provider with random frames in it: each is made with what the model makes of it, and compared when it is
 * collected, in its order, with every byte around it.
 */
#pragma once

#include <stdlib.h>

#include <openssl/provider.h>

#include "crypto_model.h"
#include "fixture.h"
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

#define POLLS 100000000u /* a queue that hangs ends the test */

static inline struct kit_frame *frame_at(const struct crypto_kit *r, unsigned n) {
	return &r->frames[n % KIT_FRAMES];
}

static inline void keys_make(struct crypto_kit *r) {
	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		for (unsigned k = 0; k < KIT_KEYS; k++) {
			struct crypto_key *key = &r->keys[cipher][k];

			random_fill(&r->random, r->key_bytes[cipher][k], 32);
			random_fill(&r->random, key->iv, sizeof(key->iv));
			key->cipher = (uint8_t)cipher;
			if (cipher == CIPHER_NONE || !crypto_can(r->provider, cipher))
				continue;
			key->schedule = crypto_key_make(r->provider, r->direction, cipher,
							r->key_bytes[cipher][k]);
			assert_non_null(key->schedule);
		}
	}
}

/* Opens a queue and makes keys. The test fails where it cannot. */
static inline void kit_open(struct crypto_kit *r, struct crypto_provider *p,
			    enum crypto_direction direction, uint64_t seed) {
	/* the model's: DPDK's openssl device takes its own away when it closes */
	assert_non_null(OSSL_PROVIDER_load(NULL, "default"));
	memset(r, 0, sizeof(*r));
	r->provider = p;
	r->direction = direction;
	r->random.state = seed;
	r->queue = crypto_queue_open(p, direction);
	assert_non_null(r->queue);
	r->pool = fixture_pool(direction == CRYPTO_DOWNLINK ? "kit_down" : "kit_up", KIT_FRAMES,
			       KIT_ROOM);
	r->frames = calloc(KIT_FRAMES, sizeof(r->frames[0]));
	assert_non_null(r->frames);
	keys_make(r);
}

static inline unsigned pick(struct crypto_kit *r, int wish, unsigned low, unsigned high) {
	return wish == KIT_ANY ? random_between(&r->random, low, high) : (unsigned)wish;
}

static inline unsigned pick_cipher(struct crypto_kit *r, int wish) {
	unsigned least = wish == KIT_CIPHERED ? CIPHER_NONE + 1 : CIPHER_NONE, cipher;

	do
		cipher = wish < 0 ? random_between(&r->random, least, CIPHERS - 1) : (unsigned)wish;
	while (!crypto_can(r->provider, cipher));
	return cipher;
}

/* What the model makes of a frame in this copy of its buffer. */
static inline bool modelled(struct crypto_kit *r, enum crypto_direction direction,
			    const struct crypto_frame *f, uint8_t *buffer) {
	return model_frame(direction, f,
			   r->key_bytes[f->key->cipher][f->key - r->keys[f->key->cipher]], buffer);
}

/* Makes a frame that is to be submitted; there must be room. */
static inline void kit_make(struct crypto_kit *r, const struct kit_shape *shape) {
	struct kit_frame *f = frame_at(r, r->given);
	unsigned cipher = pick_cipher(r, shape->cipher);
	unsigned header = random_below(&r->random, 24);
	unsigned size = random_between(&r->random, shape->size_min, shape->size_max);
	struct rte_mbuf *m = rte_pktmbuf_alloc(r->pool);

	assert_true(r->given - r->done < KIT_FRAMES);
	assert_non_null(m);
	m->data_off = (uint16_t)(64 + pick(r, shape->align, 0, 63));
	m->data_len = (uint16_t)(header + size);
	m->pkt_len = m->data_len;
	f->frame = (struct crypto_frame){
		.m = m,
		.key = &r->keys[cipher][random_below(&r->random, KIT_KEYS)],
		.pdu = (uint16_t)header,
		.clear = (uint16_t)(header + 12 +
				    (random_below(&r->random, 4) == 0 ? random_below(&r->random, 30)
								      : 0)),
		.parts = (uint16_t)pick(r, shape->parts, 0, 3),
	};
	random_fill(&r->random, f->before, m->data_off + m->data_len + 64u);
	/* upstream, as a modem would send it: most have a CRC that is right */
	if (r->direction == CRYPTO_UPLINK && random_below(&r->random, 8) != 0)
		modelled(r, CRYPTO_DOWNLINK, &f->frame, f->before);
	memcpy(m->buf_addr, f->before, KIT_ROOM);
	memcpy(f->after, f->before, KIT_ROOM);
	f->good = modelled(r, r->direction, &f->frame, f->after);
	r->given++;
}

/* Submits at most `n` of those made. Returns how many were taken. */
static inline unsigned kit_submit(struct crypto_kit *r, unsigned n) {
	struct crypto_frame burst[CRYPTO_BURST];
	unsigned taken;

	n = RTE_MIN(RTE_MIN(n, CRYPTO_BURST), r->given - r->taken);
	for (unsigned i = 0; i < n; i++)
		burst[i] = frame_at(r, r->taken + i)->frame;
	taken = crypto_submit(r->queue, burst, (uint16_t)n);
	assert_true(taken <= n);
	r->taken += taken;
	return taken;
}

static inline void frame_fails(const struct crypto_kit *r, const char *why) {
	const struct crypto_frame *f = &frame_at(r, r->done)->frame;

	fail_msg("frame %u: %s, cipher %u, %u bytes, header %u, clear %u, parts %u: %s", r->done,
		 r->direction == CRYPTO_DOWNLINK ? "down" : "up", f->key->cipher, f->m->data_len,
		 f->pdu, f->clear, f->parts, why);
}

static inline void frame_good(struct crypto_kit *r, const struct rte_mbuf *m) {
	const struct kit_frame *f = frame_at(r, r->done);

	assert_ptr_equal(m, f->frame.m);
	if (!f->good)
		frame_fails(r, "a CRC that is wrong is called good");
	if (memcmp(m->buf_addr, f->after, KIT_ROOM) != 0)
		frame_fails(r, "wrong bytes");
}

static inline void frame_bad(struct crypto_kit *r, const struct crypto_failed *bad) {
	const struct kit_frame *f = frame_at(r, r->done);

	assert_ptr_equal(bad->m, f->frame.m);
	r->crc_wrong += bad->why == CRYPTO_FAILED_CRC;
	r->failed += bad->why == CRYPTO_FAILED;
	r->lost += bad->why == CRYPTO_LOST;
	if (bad->why != CRYPTO_FAILED_CRC)
		assert_true(r->may_fail);
	else if (f->good)
		frame_fails(r, "a CRC that is right is called wrong");
	else
		assert_memory_equal(bad->m->buf_addr, f->after, KIT_ROOM);
}

/* The good ones stand in their order, and so do the others: which is next is told by the frame. */
/* Collects once. Returns how many frames came, good or not. */
static inline unsigned kit_collect(struct crypto_kit *r) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures, n = crypto_collect(r->queue, good, failed, &failures), g = 0, b = 0;

	assert_true(n + failures <= CRYPTO_BURST && r->done + n + failures <= r->taken);
	for (unsigned i = 0; i < n + failures; i++, r->done++) {
		struct rte_mbuf *m = frame_at(r, r->done)->frame.m;

		if (g < n && good[g] == m)
			frame_good(r, good[g++]);
		else if (b < failures)
			frame_bad(r, &failed[b++]);
		else
			fail_msg("frame %u: another one came", r->done);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(r->queue->pending, r->taken - r->done);
	return n + failures;
}

/* Makes and submits `n`, at most CRYPTO_BURST at a time with a collection behind each. */
static inline void kit_feed(struct crypto_kit *r, unsigned n, const struct kit_shape *shape) {
	while (n > 0) {
		unsigned some = RTE_MIN(n, CRYPTO_BURST), tries = 0;

		for (unsigned i = 0; i < some; i++)
			kit_make(r, shape);
		while (r->taken != r->given && tries++ < POLLS) {
			kit_submit(r, CRYPTO_BURST);
			kit_collect(r);
		}
		assert_int_equal(r->taken, r->given);
		n -= some;
	}
}

/* Collects until nothing is left, and nothing is waiting to be submitted. */
static inline void kit_drain(struct crypto_kit *r) {
	for (unsigned tries = 0; r->done != r->given && tries < POLLS; tries++) {
		if (r->taken != r->given)
			kit_submit(r, CRYPTO_BURST);
		kit_collect(r);
	}
	assert_int_equal(r->done, r->given);
}

/* Buffers that are not in the pool. */
static inline unsigned kit_held(const struct crypto_kit *r) {
	return rte_mempool_in_use_count(r->pool);
}

/* All is collected: gives keys and queue back. Buffers that the device may still have are told by the pool's count. */
static inline void kit_close(struct crypto_kit *r) {
	assert_int_equal(r->done, r->given);
	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		for (unsigned k = 0; k < KIT_KEYS; k++)
			crypto_key_free(r->provider, r->direction, cipher,
					r->keys[cipher][k].schedule);
	}
	crypto_queue_close(r->queue);
	free(r->frames);
}

/* Frees the pool, of which nothing is out. */
static inline void kit_end(struct crypto_kit *r) {
	fixture_pool_end(r->pool);
}
