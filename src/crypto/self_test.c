/* SPDX-License-Identifier: BSD-3-Clause */
#include "crypto/self_test.h"

#include <stdio.h>
#include <string.h>

#include "platform/log/log.h"
#include "wire/crc32.h"
#include "wire/docsis_mac.h"

#define FRAMES 29 /* of a burst: more than the library's lanes, and no multiple of their number */
#define SIZE_MIN_BYTES 64
#define SIZE_MAX_BYTES 1522
/* Without AVX-512, intel-ipsec-mb needs half a second of each start for DES with frames of up to 1522 bytes.
 * DES treats all blocks of a frame alike, so shorter frames of as many sizes find the same faults. */
#define SIZE_MAX_DES 256
#define BURST_MIN 12 /* frames that are left in lanes: their number, and a few less */
#define BURST_MAX 17

struct trial {
	struct crypto_provider *provider;
	enum cipher cipher;
	struct crypto_key down, up;
	struct crypto_queue *encrypt, *decrypt;
	struct rte_mempool *pool;
	struct rte_mbuf *frames[FRAMES];
	uint8_t sent[FRAMES][SIZE_MAX_BYTES]; /* the result of single frames */
};

/* From the shortest Ethernet frame to the longest, unsorted. */
static uint16_t size_of(const struct trial *t, unsigned frame) {
	unsigned max = t->cipher == CIPHER_DES ? SIZE_MAX_DES : SIZE_MAX_BYTES;

	return (uint16_t)(SIZE_MIN_BYTES + frame * 617 % (max - SIZE_MIN_BYTES + 1));
}

static uint8_t byte_of(unsigned frame, unsigned at) {
	return (uint8_t)(frame * 31 + at * 7 + (at >> 8));
}

static uint8_t *bytes_of(const struct trial *t, unsigned frame) {
	return rte_pktmbuf_mtod(t->frames[frame], uint8_t *);
}

static void frame_resize(struct rte_mbuf *m, uint16_t size) {
	m->data_len = size;
	m->pkt_len = size;
}

static void frames_fill(struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++) {
		frame_resize(t->frames[f], size_of(t, f));
		for (unsigned at = 0; at < size_of(t, f); at++)
			bytes_of(t, f)[at] = byte_of(f, at);
	}
}

/* Submits frames and collects all of them. Returns whether they are good and in order. */
static bool burst(struct crypto_queue *q, const struct crypto_frame *frames, unsigned n) {
	struct rte_mbuf *good[CRYPTO_BURST];
	struct crypto_failed failed[CRYPTO_BURST];
	unsigned given = 0, received = 0;
	bool right = true;

	while (right ? received < n : q->pending > 0) {
		uint16_t failures, got;

		if (right)
			given += crypto_submit(q, &frames[given], (uint16_t)(n - given));
		got = crypto_collect(q, good, failed, &failures);
		for (uint16_t i = 0; i < got; i++)
			right = right && good[i] == frames[received++].m;
		right = right && failures == 0;
	}
	return right;
}

/* Passes all frames through the queue, up to `n` at a time. */
static bool pass(struct trial *t, struct crypto_queue *q, const struct crypto_key *key,
		 unsigned parts, unsigned n) {
	struct crypto_frame frames[FRAMES];

	for (unsigned f = 0; f < FRAMES; f++)
		frames[f] = (struct crypto_frame){t->frames[f], key, 0, DOCSIS_CLEAR_SIZE,
						  (uint16_t)parts};
	for (unsigned f = 0; f < FRAMES; f += n) {
		if (!burst(q, &frames[f], RTE_MIN(n, FRAMES - f)))
			return false;
	}
	return true;
}

static bool frames_are_right(const struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++) {
		uint16_t size = size_of(t, f);

		for (unsigned at = 0; at + ETHERNET_CRC_SIZE < size; at++) {
			if (bytes_of(t, f)[at] != byte_of(f, at))
				return false;
		}
		if (!ethernet_crc_good(bytes_of(t, f), size))
			return false;
	}
	return true;
}

/* Whether the cipher has changed the frames. */
static bool frames_are_secret(const struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++) {
		unsigned same = 0;

		for (unsigned at = DOCSIS_CLEAR_SIZE; at < size_of(t, f); at++)
			same += bytes_of(t, f)[at] == byte_of(f, at);
		if (same > size_of(t, f) / 4u)
			return false;
	}
	return true;
}

static void frames_keep(struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++)
		memcpy(t->sent[f], bytes_of(t, f), size_of(t, f));
}

static bool frames_as_kept(const struct trial *t) {
	for (unsigned f = 0; f < FRAMES; f++) {
		if (memcmp(t->sent[f], bytes_of(t, f), size_of(t, f)) != 0)
			return false;
	}
	return true;
}

static unsigned crc_and_cipher(const struct trial *t) {
	return CRYPTO_CRC | (t->cipher != CIPHER_NONE ? CRYPTO_CIPHER : 0);
}

/* Keeps the results of single frames, which bursts must match. Single frames are slow, as other
 * lanes of the library are empty, so this runs once. */
static bool singles(struct trial *t) {
	bool secret = t->cipher != CIPHER_NONE;

	frames_fill(t);
	if (!pass(t, t->encrypt, &t->down, crc_and_cipher(t), 1) ||
	    (secret && !frames_are_secret(t)))
		return false;
	frames_keep(t);
	return pass(t, t->decrypt, &t->up, secret ? CRYPTO_CIPHER : 0, 1) && frames_are_right(t);
}

/* Tests bursts of `n`. Faults of libraries show with bursts, and with a CRC in the same pass. */
static bool round_trip(struct trial *t, unsigned n) {
	frames_fill(t);
	return pass(t, t->encrypt, &t->down, crc_and_cipher(t), n) && frames_as_kept(t) &&
	       pass(t, t->decrypt, &t->up, crc_and_cipher(t), n) && frames_are_right(t);
}

/* SEC, appendix I. Known bytes find faults that encryption and decryption have in common. */
static bool known_bytes(struct trial *t) {
	static const uint8_t clear[19] = {0,  1,  2,  3,  4,  5,    6,	  7,	8,   9,
					  10, 11, 12, 13, 14, 0x91, 0xd2, 0xd1, 0x9f};
	static const uint8_t sent[CIPHERS][19] = {
		[CIPHER_AES_128] = {0x9d, 0xd1, 0x67, 0x4b, 0xba, 0x61, 0x10, 0x1b, 0x56, 0x75,
				    0x64, 0x74, 0x36, 0x4f, 0x10, 0x1d, 0x44, 0xd4, 0x73},
		[CIPHER_AES_256] = {0xd1, 0x28, 0x73, 0x1f, 0xb5, 0x28, 0xb5, 0x18, 0xab, 0x51,
				    0xab, 0xc8, 0x98, 0x3d, 0xd1, 0xee, 0xe4, 0x43, 0x59},
		[CIPHER_DES] = {0x0d, 0xda, 0x5a, 0xcb, 0xd0, 0x5e, 0x55, 0x67, 0x51, 0x47, 0x46,
				0x86, 0x8a, 0x71, 0xe5, 0x77, 0xef, 0xac, 0x88},
	};
	struct crypto_frame f = {t->frames[0], &t->down, 0, 0, CRYPTO_CIPHER};

	if (t->cipher == CIPHER_NONE)
		return true;
	frame_resize(t->frames[0], sizeof(clear));
	memcpy(bytes_of(t, 0), clear, sizeof(clear));
	return burst(t->encrypt, &f, 1) &&
	       memcmp(bytes_of(t, 0), sent[t->cipher], sizeof(clear)) == 0;
}

static bool good_all(struct trial *t) {
	bool good;

	frames_fill(t);
	good = known_bytes(t) && singles(t) && round_trip(t, FRAMES);

	for (unsigned n = BURST_MIN; n <= BURST_MAX && good; n++)
		good = round_trip(t, n);
	return good;
}

/* Allocates buffers in memory that a PCI device can access. */
static bool buffers_alloc(struct trial *t) {
	static unsigned trials;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "crypto_trial%u", trials++);
	t->pool = rte_pktmbuf_pool_create(name, FRAMES, 0, 0, SIZE_MAX_BYTES + RTE_PKTMBUF_HEADROOM,
					  SOCKET_ID_ANY);
	return t->pool != NULL && rte_pktmbuf_alloc_bulk(t->pool, t->frames, FRAMES) == 0;
}

/* A device may still write to lost frames, so the pool stays if any buffer is missing. */
static void buffers_free(struct trial *t) {
	if (t->frames[0] != NULL)
		rte_pktmbuf_free_bulk(t->frames, FRAMES);
	if (t->pool != NULL && rte_mempool_in_use_count(t->pool) == 0)
		rte_mempool_free(t->pool);
}

static bool trial_open(struct trial *t) {
	static const uint8_t part[8] = {0xe6, 0x60, 0x0f, 0xd8, 0x85, 0x2e, 0xf5, 0xab};
	static const uint8_t iv[CRYPTO_IV_SIZE] = {0x81, 0x0e, 0x52, 0x8e, 0x1c, 0x5f, 0xda, 0x1a,
						   0x81, 0x0e, 0x52, 0x8e, 0x1c, 0x5f, 0xda, 0x1a};
	uint8_t key[32];

	for (unsigned i = 0; i < sizeof(key); i += sizeof(part))
		memcpy(key + i, part, sizeof(part));

	struct crypto_provider *p = t->provider;
	enum cipher cipher = t->cipher;
	t->down.cipher = t->up.cipher = (uint8_t)cipher;
	memcpy(t->down.iv, iv, sizeof(iv));
	memcpy(t->up.iv, iv, sizeof(iv));
	t->encrypt = crypto_queue_open(p, CRYPTO_DOWNLINK);
	t->decrypt = crypto_queue_open(p, CRYPTO_UPLINK);
	if (cipher != CIPHER_NONE) {
		t->down.schedule = crypto_key_make(p, CRYPTO_DOWNLINK, cipher, key);
		t->up.schedule = crypto_key_make(p, CRYPTO_UPLINK, cipher, key);
		if (t->down.schedule == NULL || t->up.schedule == NULL)
			return false;
	}
	return t->encrypt != NULL && t->decrypt != NULL && buffers_alloc(t);
}

static void trial_close(struct trial *t) {
	crypto_key_free(t->provider, CRYPTO_DOWNLINK, t->cipher, t->down.schedule);
	crypto_key_free(t->provider, CRYPTO_UPLINK, t->cipher, t->up.schedule);
	if (t->encrypt != NULL)
		crypto_queue_close(t->encrypt);
	if (t->decrypt != NULL)
		crypto_queue_close(t->decrypt);
	buffers_free(t);
}

uint32_t crypto_self_test(struct crypto_provider *p) {
	bool good = true;
	uint32_t wrong = 0;

	for (unsigned cipher = 0; cipher < CIPHERS; cipher++) {
		struct trial t = {.provider = p, .cipher = (enum cipher)cipher};

		if (!crypto_can(p, (enum cipher)cipher))
			continue;
		if (good) {
			good = trial_open(&t);
			if (!good)
				log_error("memory", LOG_NO_FIELDS,
					  "crypto %s: no memory for the self-test", p->name);
			good = good && good_all(&t);
			trial_close(&t);
		}
		wrong |= good ? 0 : 1u << cipher;
	}
	return wrong;
}

bool crypto_withdraw(struct crypto_provider *p, uint32_t wrong, const char *version) {
	p->ciphers &= ~wrong;
	if (wrong == 0)
		return true;
	if (wrong == 1u << CIPHER_DES && p->ciphers != 1u << CIPHER_NONE) {
		log_warning("crypto", LOG_NO_FIELDS,
			    "crypto %s: version %s fails the self-test with DES on this CPU: "
			    "only AES is used",
			    p->name, version);
		return true;
	}
	log_error("crypto", LOG_NO_FIELDS,
		  "crypto %s: version %s fails the self-test on this CPU: use another version "
		  "or device",
		  p->name, version);
	return false;
}
