/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/self_test.h"

#include <stdio.h>
#include <string.h>

#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define FRAMES 29 /* of one burst: more than the library has lanes, and no multiple of them */
#define SIZE_MAX_BYTES 1522
#define PATIENCE 1000000

struct trial {
	struct crypto_provider *provider;
	enum cipher cipher;
	struct crypto_key down, up;
	struct crypto_queue *there, *back;
	struct rte_mbuf frames[FRAMES];
	uint8_t bytes[FRAMES][SIZE_MAX_BYTES];
};

/* From the shortest Ethernet frame to the longest, in no order. */
static uint16_t size_of(unsigned frame) {
	return (uint16_t)(64 + frame * 617 % (SIZE_MAX_BYTES - 64 + 1));
}

static uint8_t byte_of(unsigned frame, unsigned at) {
	return (uint8_t)(frame * 31 + at * 7 + (at >> 8));
}

static void frames_fill(struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++) {
		t->frames[f] = (struct rte_mbuf){.buf_addr = t->bytes[f], .data_len = size_of(f)};
		for (unsigned at = 0; at < size_of(f); at++)
			t->bytes[f][at] = byte_of(f, at);
	}
}

/* Up to `n` of them at a time. Returns whether all came back, in order. */
static bool pass(struct trial *t, struct crypto_queue *q, const struct crypto_key *key,
		 unsigned parts, unsigned n) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	struct crypto_frame frames[FRAMES];
	unsigned came = 0;
	uint16_t failures;

	for (unsigned f = 0; f < FRAMES; f++)
		frames[f] = (struct crypto_frame){
			&t->frames[f], key, 0, DOCSIS_CLEAR_SIZE, (uint16_t)parts};
	for (unsigned f = 0; f < FRAMES; f += n) {
		unsigned some = RTE_MIN(n, FRAMES - f), tries = 0;

		if (crypto_submit(q, &frames[f], (uint16_t)some) != some)
			return false;
		while (q->held > 0 && tries++ < PATIENCE) {
			uint16_t got = crypto_collect(q, good, failed, &failures);

			for (uint16_t i = 0; i < got; i++) {
				if (good[i] != &t->frames[came++])
					return false;
			}
			if (failures > 0)
				return false;
		}
	}
	return came == FRAMES;
}

static bool frames_are_right(const struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++) {
		uint16_t size = size_of(f);

		for (unsigned at = 0; at + ETHERNET_CRC_SIZE < size; at++) {
			if (t->bytes[f][at] != byte_of(f, at))
				return false;
		}
		if (!ethernet_crc_good(t->bytes[f], size))
			return false;
	}
	return true;
}

/* A frame that went through a cipher is no longer what it was. */
static bool frames_are_secret(const struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++) {
		unsigned same = 0;

		for (unsigned at = DOCSIS_CLEAR_SIZE; at < size_of(f); at++)
			same += t->bytes[f][at] == byte_of(f, at);
		if (same > size_of(f) / 4u)
			return false;
	}
	return true;
}

static bool there_and_back(struct trial *t) {
	bool secret = t->cipher != CIPHER_NONE;
	unsigned both = CRYPTO_CRC | (secret ? CRYPTO_CIPHER : 0);

	frames_fill(t);
	return pass(t, t->there, &t->down, both, FRAMES) && (!secret || frames_are_secret(t)) &&
	       pass(t, t->back, &t->up, secret ? CRYPTO_CIPHER : 0, 1) && frames_are_right(t) &&
	       pass(t, t->there, &t->down, both, 1) && pass(t, t->back, &t->up, both, FRAMES) &&
	       frames_are_right(t);
}

static bool trial_open(struct trial *t, struct crypto_provider *p, enum cipher cipher) {
	static const uint8_t key[32] = {0x1f, 0x2e, 0x3d, 0x4c, 0x5b, 0x6a, 0x79, 0x88,
					0x97, 0xa6, 0xb5, 0xc4, 0xd3, 0xe2, 0xf1, 0x07};
	static const uint8_t iv[CRYPTO_IV_SIZE] = {1, 2, 3, 4, 5, 6, 7, 8};

	t->provider = p;
	t->cipher = cipher;
	t->down.cipher = t->up.cipher = (uint8_t)cipher;
	memcpy(t->down.iv, iv, sizeof(iv));
	memcpy(t->up.iv, iv, sizeof(iv));
	t->there = crypto_queue_open(p, CRYPTO_DOWNLINK);
	t->back = crypto_queue_open(p, CRYPTO_UPLINK);
	if (cipher != CIPHER_NONE) {
		t->down.schedule = crypto_key_make(p, CRYPTO_DOWNLINK, cipher, key);
		t->up.schedule = crypto_key_make(p, CRYPTO_UPLINK, cipher, key);
		if (t->down.schedule == NULL || t->up.schedule == NULL)
			return false;
	}
	return t->there != NULL && t->back != NULL;
}

static void trial_close(struct trial *t) {
	crypto_key_free(t->provider, CRYPTO_DOWNLINK, t->cipher, t->down.schedule);
	crypto_key_free(t->provider, CRYPTO_UPLINK, t->cipher, t->up.schedule);
	if (t->there != NULL)
		crypto_queue_close(t->there);
	if (t->back != NULL)
		crypto_queue_close(t->back);
}

bool crypto_self_test(struct crypto_provider *p, const char *version) {
	static struct trial t;
	bool good = true;

	for (unsigned cipher = 0; cipher < CIPHERS && good; cipher++) {
		if (!crypto_can(p, cipher))
			continue;
		t = (struct trial){0};
		good = trial_open(&t, p, cipher) && there_and_back(&t);
		trial_close(&t);
	}
	if (!good)
		fprintf(stderr, "crypto %s: version %s makes wrong frames here: take another one\n",
			p->name, version);
	return good;
}
