/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto_kit.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/provider.h>

#include "crypto_model.h"

#include "fixture.h"
#include "test.h"

#define POLLS 100000000u /* a queue that hangs ends the test */

static struct kit_frame *frame_at(const struct crypto_kit *r, unsigned n) {
	return &r->frames[n % KIT_FRAMES];
}

static void keys_make(struct crypto_kit *r) {
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

void kit_open(struct crypto_kit *r, struct crypto_provider *p, enum crypto_direction direction,
	      uint64_t seed) {
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

static unsigned pick(struct crypto_kit *r, int wish, unsigned low, unsigned high) {
	return wish == KIT_ANY ? random_between(&r->random, low, high) : (unsigned)wish;
}

static unsigned pick_cipher(struct crypto_kit *r, int wish) {
	unsigned least = wish == KIT_CIPHERED ? CIPHER_NONE + 1 : CIPHER_NONE, cipher;

	do
		cipher = wish < 0 ? random_between(&r->random, least, CIPHERS - 1) : (unsigned)wish;
	while (!crypto_can(r->provider, cipher));
	return cipher;
}

/* What the model makes of a frame in this copy of its buffer. */
static bool modelled(struct crypto_kit *r, enum crypto_direction direction,
		     const struct crypto_frame *f, uint8_t *buffer) {
	return model_frame(direction, f,
			   r->key_bytes[f->key->cipher][f->key - r->keys[f->key->cipher]], buffer);
}

void kit_make(struct crypto_kit *r, const struct kit_shape *shape) {
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

unsigned kit_submit(struct crypto_kit *r, unsigned n) {
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

static void frame_fails(const struct crypto_kit *r, const char *why) {
	const struct crypto_frame *f = &frame_at(r, r->done)->frame;

	fail_msg("frame %u: %s, cipher %u, %u bytes, header %u, clear %u, parts %u: %s", r->done,
		 r->direction == CRYPTO_DOWNLINK ? "down" : "up", f->key->cipher, f->m->data_len,
		 f->pdu, f->clear, f->parts, why);
}

static void frame_good(struct crypto_kit *r, const struct rte_mbuf *m) {
	const struct kit_frame *f = frame_at(r, r->done);

	assert_ptr_equal(m, f->frame.m);
	if (!f->good)
		frame_fails(r, "a CRC that is wrong is called good");
	if (memcmp(m->buf_addr, f->after, KIT_ROOM) != 0)
		frame_fails(r, "wrong bytes");
}

static void frame_bad(struct crypto_kit *r, const struct crypto_failed *bad) {
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
unsigned kit_collect(struct crypto_kit *r) {
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
	assert_int_equal(r->queue->held, r->taken - r->done);
	return n + failures;
}

void kit_feed(struct crypto_kit *r, unsigned n, const struct kit_shape *shape) {
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

void kit_drain(struct crypto_kit *r) {
	for (unsigned tries = 0; r->done != r->given && tries < POLLS; tries++) {
		if (r->taken != r->given)
			kit_submit(r, CRYPTO_BURST);
		kit_collect(r);
	}
	assert_int_equal(r->done, r->given);
}

unsigned kit_held(const struct crypto_kit *r) {
	return rte_mempool_in_use_count(r->pool);
}

void kit_close(struct crypto_kit *r) {
	assert_int_equal(r->done, r->given);
	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		for (unsigned k = 0; k < KIT_KEYS; k++)
			crypto_key_free(r->provider, r->direction, cipher,
					r->keys[cipher][k].schedule);
	}
	crypto_queue_close(r->queue);
	free(r->frames);
}

void kit_end(struct crypto_kit *r) {
	fixture_pool_end(r->pool);
}
