/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model against published vectors, and every provider against the model: all lengths and alignments; bursts of all
 * ciphers and sizes; frames that wait for others. intel-ipsec-mb with all of its code that this CPU runs.
 */
#include "test_main.h"

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
		.queues = 4, .in_flight = 512, .timeout_ms = 60000, .socket = SOCKET_ID_ANY};

	return cryptodev_open(name, &options);
}

TEST(model_meets_published_vectors) {
	static const struct {
		const char *set;
		enum cipher cipher;
	} sets[] = {
		{"nist_aes256", CIPHER_AES_256}, {"fips_des", CIPHER_DES},
		{"sec7_aes128", CIPHER_AES_128}, {"sec19_aes128", CIPHER_AES_128},
		{"sec7_aes256", CIPHER_AES_256}, {"sec19_aes256", CIPHER_AES_256},
		{"sec7_des", CIPHER_DES},	 {"sec19_des", CIPHER_DES},
	};
	enum { KEY, IV, CLEAR, SENT, PARTS };
	static const char *const parts[PARTS] = {"key", "iv", "clear", "sent"};

	for (size_t i = 0; i < 2 * ARRAY_COUNT(sets); i++) {
		const bool down = i % 2;
		struct crypto_key k = {.cipher = (uint8_t)sets[i / 2].cipher};
		struct vector v[PARTS], *in = &v[down ? CLEAR : SENT],
					*out = &v[down ? SENT : CLEAR];
		char name[64];

		for (unsigned part = 0; part < PARTS; part++) {
			snprintf(name, sizeof(name), "%s_%s", sets[i / 2].set, parts[part]);
			vector_get("crypto.txt", name, &v[part]);
		}
		assert_int_equal(v[KEY].size, cipher_key_size(sets[i / 2].cipher));
		memcpy(k.iv, v[IV].bytes, v[IV].size);
		model_bpi(&k, v[KEY].bytes, down, in->bytes, in->size);
		assert_memory_equal(in->bytes, out->bytes, out->size);
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

/* A cipher, and another one. Returns whether the provider can do both. */
static bool pair_of(const struct crypto_kit *r, int cipher, struct kit_shape pair[2]) {
	const int other = cipher == CIPHER_AES_128 ? CIPHER_AES_256 : CIPHER_AES_128;

	pair[0] = (struct kit_shape){60, 60, cipher, 3, KIT_ANY};
	pair[1] = (struct kit_shape){60, 60, other, 3, KIT_ANY};
	return crypto_can(r->provider, (enum cipher)cipher) &&
	       crypto_can(r->provider, (enum cipher)other);
}

/* One frame alone of its cipher, and hundreds of another behind it, which all wait for it. */
static void lonely_frames(struct crypto_kit *r) {
	struct kit_shape pair[2];

	for (int lonely = CIPHER_AES_128; lonely < CIPHERS; lonely++) {
		unsigned pending = 0;

		if (!pair_of(r, lonely, pair))
			continue;
		kit_feed(r, 1, &pair[0]);
		for (unsigned turn = 0; turn < 20; turn++) {
			kit_feed(r, CRYPTO_BURST / 2 + turn, &pair[1]);
			pending = RTE_MAX(pending, r->queue->pending);
		}
		assert_true(pending < 256); /* jobs that the library has */
		kit_drain(r);
	}
}

/* Without a collection in between, a queue takes what it has room for; and no frame of it is lost, also where none has ended. */
static void many_submissions(struct crypto_kit *r) {
	const struct kit_shape any = {60, 100, KIT_ANY, 3, KIT_ANY};
	struct kit_shape pair[2] = {any, any};

	for (int first = KIT_ANY; first < CIPHERS; first++) {
		if (first != KIT_ANY && !pair_of(r, first, pair))
			continue;
		for (unsigned i = 0; i < 901; i++)
			kit_make(r, &pair[i > 0]);
		for (unsigned i = 0; i < 40; i++)
			kit_submit(r, 1 + i * 3);
		kit_drain(r);
	}
}

static void everything(void) {
	static struct crypto_kit r;

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
/* What is not compiled into the library, or not in the CPU, is refused with a message. */
TEST(library_with_all_and_with_less) {
	unsigned tried = 0;

	for (int isa = 0; isa < CRYPTO_ISAS; isa++) {
		provider = ipsec_mb_open_isa((enum crypto_isa)isa, SOCKET_ID_ANY);
		assert_true(provider != NULL || isa != CRYPTO_ISA_AUTO);
		if (provider == NULL)
			continue;
		everything();
		tried++;
	}
	assert_true(tried >= 2);
}
#endif

TEST(devices) {
	static const struct {
		const char *name;
		unsigned may_lack; /* ciphers */
		int crc_ciphers; /* or KIT_ANY */
	} devices[] = {
#ifndef VCMTS_NO_IPSEC_MB
		/* 2.0 of the library has no DES for it */
		{"crypto_aesni_mb0", 1 << CIPHER_DES, 1 << CIPHER_AES_128 | 1 << CIPHER_AES_256},
#endif
		/* in DPDK 22.11 a scheduler has no DOCSIS security: the CRC is made here */
		{KIT_SCHEDULER ",mode=round-robin", 1 << CIPHER_DES, KIT_ANY},
		/* DES of DOCSIS in one operation, AES in two */
		{"crypto_openssl0", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(devices); i++) {
		provider = device(devices[i].name);
		assert_non_null(provider);
		assert_int_equal(provider->ciphers | devices[i].may_lack, 0xf);
		if (devices[i].crc_ciphers != KIT_ANY)
			assert_int_equal(provider->crc_ciphers, devices[i].crc_ciphers);
		everything();
	}
}

TEST(devices_that_are_refused) {
	static const char *const names[] = {"crypto_null0", "crypto_nonsense0", "0000:ff:1f.7",
					    "crypto_scheduler0,worker=crypto_nonsense0",
					    "crypto_scheduler0"};
	const unsigned before = rte_cryptodev_count();

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_null(device(names[i]));
	assert_int_equal(rte_cryptodev_count(), before);
}

ALL_TESTS(fixture_start, fixture_stop)
