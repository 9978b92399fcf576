/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every provider against the model: published vectors; all lengths and alignments; bursts of all ciphers and sizes; frames
 * that wait for others. intel-ipsec-mb with all of its code that this CPU runs.
 */
#include "test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cryptodev.h>

#include "crypto/cryptodev.h"
#ifndef VCMTS_NO_IPSEC_MB
#include "crypto/ipsec_mb.h"
#endif

#include "crypto_kit.h"
#include "crypto_model.h"
#include "fixture.h"
#include "vectors.h"

static struct crypto_provider *provider;

static struct crypto_provider *device(const char *name) {
	const struct cryptodev_options options = {
		.queues = 4, .in_flight = 512, .patience_ms = 60000, .socket = SOCKET_ID_ANY};

	return cryptodev_open(name, &options);
}

static void get(const char *set, const char *part, struct vector *out) {
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", set, part);
	vector_get("crypto.txt", name, out);
}

/* One frame, whose data has the cipher only. */
static void cipher_once(enum crypto_direction direction, const struct crypto_key *key,
			struct vector *data) {
	struct rte_mbuf m = {.buf_addr = data->bytes, .data_len = (uint16_t)data->size};
	struct crypto_queue *q = crypto_queue_open(provider, direction);
	const struct crypto_frame f = {.m = &m, .key = key, .parts = CRYPTO_CIPHER};
	struct crypto_failed failed[CRYPTO_BURST];
	struct rte_mbuf *good[CRYPTO_BURST];
	uint16_t failures, n = 0;

	assert_non_null(q);
	rte_mbuf_refcnt_set(&m, 1);
	m.nb_segs = 1;
	m.pkt_len = m.data_len;
	assert_int_equal(crypto_submit(q, &f, 1), 1);
	for (unsigned tries = 0; n == 0 && tries < 1000; tries++) {
		n = crypto_collect(q, good, failed, &failures);
		assert_int_equal(failures, 0);
	}
	assert_int_equal(n, 1);
	crypto_queue_close(q);
}

static void vector_check(const char *set, enum cipher cipher, enum crypto_direction direction) {
	bool down = direction == CRYPTO_DOWNLINK;
	struct vector key, iv, in, out;
	struct crypto_key k = {.cipher = (uint8_t)cipher};

	get(set, "key", &key);
	get(set, "iv", &iv);
	get(set, down ? "clear" : "sent", &in);
	get(set, down ? "sent" : "clear", &out);
	assert_int_equal(key.size, cipher_key_size(cipher));
	memcpy(k.iv, iv.bytes, iv.size);
	k.schedule = crypto_key_make(provider, direction, cipher, key.bytes);
	assert_non_null(k.schedule);
	cipher_once(direction, &k, &in);
	if (memcmp(in.bytes, out.bytes, out.size) != 0)
		fail_msg("%s: wrong result", set);
	crypto_key_free(provider, direction, cipher, k.schedule);
}

static void vectors_are_met(void) {
	static const struct {
		const char *set;
		enum cipher cipher;
	} sets[] = {
		{"nist_aes256", CIPHER_AES_256}, {"fips_des", CIPHER_DES},
		{"sec7_aes128", CIPHER_AES_128}, {"sec19_aes128", CIPHER_AES_128},
		{"sec7_aes256", CIPHER_AES_256}, {"sec19_aes256", CIPHER_AES_256},
		{"sec7_des", CIPHER_DES},	 {"sec19_des", CIPHER_DES},
	};

	for (size_t i = 0; i < ARRAY_COUNT(sets); i++) {
		if (!crypto_can(provider, sets[i].cipher))
			continue;
		vector_check(sets[i].set, sets[i].cipher, CRYPTO_DOWNLINK);
		vector_check(sets[i].set, sets[i].cipher, CRYPTO_UPLINK);
	}
}

/* Each length up to what any loop unrolls, and each alignment; long ones up to the limit. */
static void lengths_and_alignments(struct crypto_kit *r) {
	for (unsigned size = 0; size <= 300; size++) {
		const struct kit_shape s = {size, size, KIT_ANY, KIT_ANY, (int)(size % 64)};

		kit_feed(r, 8, &s);
	}
	for (int align = 0; align < 64; align++) {
		const struct kit_shape s = {18, 100, KIT_ANY, CRYPTO_CRC | CRYPTO_CIPHER, align};

		kit_feed(r, 6, &s);
	}
	for (unsigned size = 301; size <= 16000; size += 619) {
		const struct kit_shape s = {size, size, KIT_ANY, KIT_ANY, KIT_ANY};

		kit_feed(r, 4, &s);
	}
	kit_feed(r, 4, &(struct kit_shape){16000, 16000, KIT_ANY, KIT_ANY, KIT_ANY});
	kit_drain(r);
}

/* Bursts of any number: what is in the lanes when the queue has nothing more is any number of each cipher. */
static void mixed_bursts(struct crypto_kit *r) {
	for (unsigned turn = 0; turn < RANDOM_TURNS(150u); turn++) {
		const struct kit_shape s = {0, turn % 3 == 0 ? 1600 : 200, KIT_ANY, KIT_ANY,
					    KIT_ANY};
		unsigned some = random_between(&r->random, 1, CRYPTO_BURST);

		kit_feed(r, some, &s);
		if (random_below(&r->random, 3) == 0)
			kit_drain(r);
	}
	kit_drain(r);
}

/* One frame alone of its cipher, and hundreds of another behind it, which all wait for it. */
static void lonely_frames(struct crypto_kit *r) {
	for (int lonely = CIPHER_AES_128; lonely < CIPHERS; lonely++) {
		const int other = lonely == CIPHER_AES_128 ? CIPHER_AES_256 : CIPHER_AES_128;
		const struct kit_shape one = {60, 60, lonely, 3, KIT_ANY};
		const struct kit_shape many = {60, 60, other, 3, KIT_ANY};
		unsigned held = 0;

		if (!crypto_can(r->provider, (enum cipher)lonely) ||
		    !crypto_can(r->provider, (enum cipher)other))
			continue;
		kit_feed(r, 1, &one);
		for (unsigned turn = 0; turn < 20; turn++) {
			kit_feed(r, CRYPTO_BURST / 2 + turn, &many);
			held = RTE_MAX(held, r->queue->held);
		}
		assert_true(held < 256); /* jobs that the library has */
		kit_drain(r);
	}
}

/* Without a collection in between, a queue takes what it has room for; and no frame of it is lost, also where none has ended. */
static void many_submissions(struct crypto_kit *r) {
	const struct kit_shape any = {60, 100, KIT_ANY, 3, KIT_ANY};

	for (int first = KIT_ANY; first < CIPHERS; first++) {
		const int other = first == CIPHER_AES_128 ? CIPHER_AES_256 : CIPHER_AES_128;
		const struct kit_shape one = {60, 60, first, 3, KIT_ANY};
		const struct kit_shape many = {60, 60, other, 3, KIT_ANY};

		if (first != KIT_ANY && (!crypto_can(r->provider, (enum cipher)first) ||
					 !crypto_can(r->provider, (enum cipher)other)))
			continue;
		kit_make(r, first == KIT_ANY ? &any : &one);
		for (unsigned i = 0; i < 900; i++)
			kit_make(r, first == KIT_ANY ? &any : &many);
		for (unsigned i = 0; i < 40; i++)
			kit_submit(r, 1 + i * 3);
		kit_drain(r);
	}
}

static void everything(void) {
	static struct crypto_kit r;

	vectors_are_met();
	for (int way = CRYPTO_DOWNLINK; way <= CRYPTO_UPLINK; way++) {
		kit_open(&r, provider, (enum crypto_direction)way, 77 + (unsigned)way);
		lengths_and_alignments(&r);
		mixed_bursts(&r);
		lonely_frames(&r);
		many_submissions(&r);
		assert_true(way == CRYPTO_DOWNLINK || r.crc_wrong > 100);
		kit_close(&r);
		kit_end(&r);
	}
	provider->functions->close(provider);
}

#ifndef VCMTS_NO_IPSEC_MB
static struct crypto_provider *library(enum crypto_isa isa) {
	return ipsec_mb_open_isa(isa, SOCKET_ID_ANY);
}

TEST(library_with_all) {
	provider = library(CRYPTO_ISA_AUTO);
	assert_non_null(provider);
	everything();
}

/* What is not compiled into the library, or not in the CPU, is refused with a message. */
TEST(library_with_less) {
	unsigned tried = 0;

	for (int isa = CRYPTO_ISA_AVX512; isa < CRYPTO_ISAS; isa++) {
		provider = library((enum crypto_isa)isa);
		if (provider == NULL)
			continue;
		everything();
		tried++;
	}
	assert_true(tried >= 1);
}

TEST(device_with_security) {
	provider = device("crypto_aesni_mb0");
	assert_non_null(provider);
	assert_int_equal(provider->ciphers | 1 << CIPHER_DES,
			 0xf); /* 2.0 of the library has no DES for it */
	assert_int_equal(provider->crc_ciphers, 1 << CIPHER_AES_128 | 1 << CIPHER_AES_256);
	everything();
}

#endif

/* In DPDK 22.11 a scheduler has no DOCSIS security: the CRC is made here. */
TEST(two_devices_by_a_scheduler) {
	provider = device(KIT_SCHEDULER ",mode=round-robin");
	assert_non_null(provider);
	assert_int_equal(provider->ciphers | 1 << CIPHER_DES, 0xf);
	everything();
}

/* DES of DOCSIS in one operation, AES in two. */
TEST(device_that_only_ciphers) {
	provider = device("crypto_openssl0");
	assert_non_null(provider);
	assert_int_equal(provider->ciphers, 0xf);
	assert_int_equal(provider->crc_ciphers, 0);
	everything();
}

TEST(devices_that_are_refused) {
	const unsigned before = rte_cryptodev_count();

	assert_null(device("crypto_null0"));
	assert_null(device("crypto_nonsense0"));
	assert_null(device("0000:ff:1f.7"));
	assert_null(device("crypto_scheduler0,worker=crypto_nonsense0"));
	assert_null(device("crypto_scheduler0"));
	assert_int_equal(rte_cryptodev_count(), before);
}

ALL_TESTS(fixture_start, fixture_stop)
