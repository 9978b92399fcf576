/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends random frames through one queue of a crypto provider. Checks that frames are collected in order, and compares
 * the whole buffer of each with the result of crypto_model.h. */
#pragma once

#include <stdlib.h>

#include <openssl/provider.h>

#include "crypto_model.h"
#include "fixture.h"
#include "random.h"

#define KIT_BUFFER_SIZE 16384u
#define KIT_FRAMES 1024u /* most frames in a queue; a power of two */
#define KIT_KEYS 6u /* per cipher */
#define KIT_ANY -1
#define KIT_CIPHERED -2 /* any cipher except CIPHER_NONE */

/* A device with all ciphers, and a scheduler of two such devices. */
#ifndef VCMTS_NO_IPSEC_MB
#define KIT_DRIVER "crypto_aesni_mb"
#else
#define KIT_DRIVER "crypto_openssl"
#endif
#define KIT_DEVICE KIT_DRIVER "7"
#define KIT_SCHEDULER "crypto_scheduler0,worker=" KIT_DRIVER "8,worker=" KIT_DRIVER "9"

/* Properties of random frames. */
struct kit_shape {
	unsigned size_min, size_max; /* bytes from `pdu` on */
	int cipher; /* enum cipher, KIT_ANY or KIT_CIPHERED */
	int parts; /* CRYPTO_CRC, CRYPTO_CIPHER, both, 0, or KIT_ANY */
	int align; /* start of the data behind a multiple of 64 bytes: 0 to 63, or KIT_ANY */
};

struct kit_frame {
	struct crypto_frame frame;
	bool good; /* expected result */
	/* the whole buffer: submitted, and as expected */
	uint8_t before[KIT_BUFFER_SIZE], after[KIT_BUFFER_SIZE];
};

struct crypto_kit {
	struct crypto_provider *provider;
	enum crypto_direction direction;
	struct crypto_queue *queue;
	struct rte_mempool *pool;
	struct random random;
	struct crypto_key keys[CIPHERS][KIT_KEYS];
	uint8_t key_bytes[CIPHERS][KIT_KEYS][32];
	unsigned made, submitted, collected; /* frames made, submitted, collected */
	unsigned crc_wrong, failed, lost; /* collected frames, by enum crypto_failure */
	bool may_fail; /* frames may fail or be lost; the test checks how many */
	struct kit_frame *frames;
};

#define POLLS 100000000u /* most polls before the test fails because the queue hangs */

static inline struct kit_frame *frame_at(const struct crypto_kit *r, unsigned n) {
	return &r->frames[n % KIT_FRAMES];
}

static inline void make_keys(struct crypto_kit *r) {
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

/* Opens a queue of the provider, and creates a pool and keys. `seed` is not 0. */
static inline void kit_open(struct crypto_kit *r, struct crypto_provider *p,
			    enum crypto_direction direction, uint64_t seed) {
	/* for the model: DPDK's openssl device unloads its reference when it closes */
	assert_non_null(OSSL_PROVIDER_load(NULL, "default"));
	memset(r, 0, sizeof(*r));
	r->provider = p;
	r->direction = direction;
	r->random.state = seed;
	r->queue = crypto_queue_open(p, direction);
	assert_non_null(r->queue);
	r->pool = fixture_pool_create(direction == CRYPTO_DOWNLINK ? "kit_down" : "kit_up",
				      KIT_FRAMES, KIT_BUFFER_SIZE);
	r->frames = calloc(KIT_FRAMES, sizeof(r->frames[0]));
	assert_non_null(r->frames);
	make_keys(r);
}

static inline unsigned pick(struct crypto_kit *r, int choice, unsigned low, unsigned high) {
	return choice == KIT_ANY ? random_between(&r->random, low, high) : (unsigned)choice;
}

static inline unsigned pick_cipher(struct crypto_kit *r, int choice) {
	unsigned lowest = choice == KIT_CIPHERED ? CIPHER_NONE + 1 : CIPHER_NONE, cipher;

	do
		cipher = choice < 0 ? random_between(&r->random, lowest, CIPHERS - 1)
				    : (unsigned)choice;
	while (!crypto_can(r->provider, cipher));
	return cipher;
}

/* Applies the model to a copy of the frame's buffer. */
static inline bool apply_model(struct crypto_kit *r, enum crypto_direction direction,
			       const struct crypto_frame *f, uint8_t *buffer) {
	return model_frame(direction, f,
			   r->key_bytes[f->key->cipher][f->key - r->keys[f->key->cipher]], buffer);
}

/* Makes a random frame for the next submission. At most KIT_FRAMES may be made and not collected. */
static inline void kit_make_frame(struct crypto_kit *r, const struct kit_shape *shape) {
	struct kit_frame *f = frame_at(r, r->made);
	unsigned cipher = pick_cipher(r, shape->cipher);
	unsigned header = random_below(&r->random, 24);
	unsigned size = random_between(&r->random, shape->size_min, shape->size_max);
	struct rte_mbuf *m = rte_pktmbuf_alloc(r->pool);

	assert_true(r->made - r->collected < KIT_FRAMES);
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
	/* upstream frames are as modems send them: encrypted, and most with a correct CRC */
	if (r->direction == CRYPTO_UPLINK && random_below(&r->random, 8) != 0)
		apply_model(r, CRYPTO_DOWNLINK, &f->frame, f->before);
	memcpy(m->buf_addr, f->before, KIT_BUFFER_SIZE);
	memcpy(f->after, f->before, KIT_BUFFER_SIZE);
	f->good = apply_model(r, r->direction, &f->frame, f->after);
	r->made++;
}

/* Submits at most `n`, and at most CRYPTO_BURST, of the frames made. Returns how many the queue accepted. */
static inline unsigned kit_submit(struct crypto_kit *r, unsigned n) {
	struct crypto_frame burst[CRYPTO_BURST];
	unsigned submitted;

	n = RTE_MIN(RTE_MIN(n, CRYPTO_BURST), r->made - r->submitted);
	for (unsigned i = 0; i < n; i++)
		burst[i] = frame_at(r, r->submitted + i)->frame;
	submitted = crypto_submit(r->queue, burst, (uint16_t)n);
	assert_true(submitted <= n);
	r->submitted += submitted;
	return submitted;
}

static inline void fail_frame(const struct crypto_kit *r, const char *why) {
	const struct crypto_frame *f = &frame_at(r, r->collected)->frame;

	fail_msg("frame %u: %s, cipher %u, %u bytes, header %u, clear %u, parts %u: %s",
		 r->collected, r->direction == CRYPTO_DOWNLINK ? "down" : "up", f->key->cipher,
		 f->m->data_len, f->pdu, f->clear, f->parts, why);
}

static inline void check_good(struct crypto_kit *r, const struct rte_mbuf *m) {
	const struct kit_frame *f = frame_at(r, r->collected);

	assert_ptr_equal(m, f->frame.m);
	if (!f->good)
		fail_frame(r, "collected as good, but its CRC is wrong");
	if (memcmp(m->buf_addr, f->after, KIT_BUFFER_SIZE) != 0)
		fail_frame(r, "the buffer differs from the model");
}

static inline void check_failed(struct crypto_kit *r, const struct crypto_failed *bad) {
	const struct kit_frame *f = frame_at(r, r->collected);

	assert_ptr_equal(bad->m, f->frame.m);
	r->crc_wrong += bad->why == CRYPTO_FAILED_CRC;
	r->failed += bad->why == CRYPTO_FAILED;
	r->lost += bad->why == CRYPTO_LOST;
	if (bad->why != CRYPTO_FAILED_CRC)
		assert_true(r->may_fail);
	else if (f->good)
		fail_frame(r, "failed for its CRC, but the CRC is correct");
	else
		assert_memory_equal(bad->m->buf_addr, f->after, KIT_BUFFER_SIZE);
}

/* Collects once and checks frames and their order. Returns the number of frames, good or failed. */
static inline unsigned kit_collect(struct crypto_kit *r) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	uint16_t failures, n = crypto_collect(r->queue, good, failed, &failures), g = 0, b = 0;

	assert_true(n + failures <= CRYPTO_BURST && r->collected + n + failures <= r->submitted);
	for (unsigned i = 0; i < n + failures; i++, r->collected++) {
		struct rte_mbuf *m = frame_at(r, r->collected)->frame.m;

		if (g < n && good[g] == m)
			check_good(r, good[g++]);
		else if (b < failures)
			check_failed(r, &failed[b++]);
		else
			fail_msg("frame %u: another frame was collected instead", r->collected);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(r->queue->pending, r->submitted - r->collected);
	return n + failures;
}

/* Makes and submits `n` frames in bursts of up to CRYPTO_BURST, and collects after each submission. */
static inline void kit_feed(struct crypto_kit *r, unsigned n, const struct kit_shape *shape) {
	while (n > 0) {
		unsigned burst_size = RTE_MIN(n, CRYPTO_BURST), tries = 0;

		for (unsigned i = 0; i < burst_size; i++)
			kit_make_frame(r, shape);
		while (r->submitted != r->made && tries++ < POLLS) {
			kit_submit(r, CRYPTO_BURST);
			kit_collect(r);
		}
		assert_int_equal(r->submitted, r->made);
		n -= burst_size;
	}
}

/* Submits and collects until all frames made are collected. */
static inline void kit_drain(struct crypto_kit *r) {
	for (unsigned tries = 0; r->collected != r->made && tries < POLLS; tries++) {
		if (r->submitted != r->made)
			kit_submit(r, CRYPTO_BURST);
		kit_collect(r);
	}
	assert_int_equal(r->collected, r->made);
}

static inline unsigned kit_buffers_in_use(const struct crypto_kit *r) {
	return rte_mempool_in_use_count(r->pool);
}

/* Frees keys and queue, once all frames are collected. The device may still have buffers of lost frames. */
static inline void kit_close(struct crypto_kit *r) {
	assert_int_equal(r->collected, r->made);
	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		for (unsigned k = 0; k < KIT_KEYS; k++)
			crypto_key_free(r->provider, r->direction, cipher,
					r->keys[cipher][k].schedule);
	}
	crypto_queue_close(r->queue);
	free(r->frames);
}

/* Frees the pool; asserts that all buffers were freed. */
static inline void kit_free_pool(struct crypto_kit *r) {
	fixture_pool_free(r->pool);
}
