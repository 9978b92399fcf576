/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares crypto_model.h with published vectors, and each provider with the model: all sizes and alignments, bursts
 * of mixed ciphers, and frames that must wait for earlier ones. intel-ipsec-mb runs with each instruction set. */
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

static struct crypto_provider *open_device(const char *name) {
	const struct cryptodev_options options = {
		.queues = 4, .in_flight = 512, .timeout_ms = 60000, .socket = SOCKET_ID_ANY};

	return cryptodev_open(name, &options);
}

TEST(model_equals_published_vectors) {
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

/* Each size up to 300, beyond any unrolled loop, and each alignment; larger sizes up to 16000 bytes. */
static void test_sizes_and_alignments(struct crypto_kit *r) {
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

/* Bursts of random size and ciphers, so that a drained queue leaves any number of frames in the library's lanes. */
static void test_mixed_bursts(struct crypto_kit *r) {
	for (unsigned i = 0; i < RANDOM_ITERATIONS(150u); i++) {
		const struct kit_shape s = {0, i % 3 == 0 ? 1600 : 200, KIT_ANY, KIT_ANY, KIT_ANY};
		unsigned burst = random_between(&r->random, 1, CRYPTO_BURST);

		kit_feed(r, burst, &s);
		if (random_below(&r->random, 3) == 0)
			kit_drain(r);
	}
	kit_drain(r);
}

/* Sets shapes with the cipher and with another one. Returns whether the provider has both. */
static bool make_pair(const struct crypto_kit *r, int cipher, struct kit_shape pair[2]) {
	const int other = cipher == CIPHER_AES_128 ? CIPHER_AES_256 : CIPHER_AES_128;

	pair[0] = (struct kit_shape){60, 60, cipher, 3, KIT_ANY};
	pair[1] = (struct kit_shape){60, 60, other, 3, KIT_ANY};
	return crypto_can(r->provider, (enum cipher)cipher) &&
	       crypto_can(r->provider, (enum cipher)other);
}

/* A single frame of one cipher, which stays in its lane, and hundreds of another that must be collected after it. */
static void test_single_frames(struct crypto_kit *r) {
	struct kit_shape pair[2];

	for (int single = CIPHER_AES_128; single < CIPHERS; single++) {
		unsigned pending = 0;

		if (!make_pair(r, single, pair))
			continue;
		kit_feed(r, 1, &pair[0]);
		for (unsigned i = 0; i < 20; i++) {
			kit_feed(r, CRYPTO_BURST / 2 + i, &pair[1]);
			pending = RTE_MAX(pending, r->queue->pending);
		}
		assert_true(pending < 256); /* jobs of the library */
		kit_drain(r);
	}
}

/* Without collections, a queue accepts frames until it is full. No frame is lost. */
static void test_submission_without_collection(struct crypto_kit *r) {
	const struct kit_shape any = {60, 100, KIT_ANY, 3, KIT_ANY};
	struct kit_shape pair[2] = {any, any};

	for (int first = KIT_ANY; first < CIPHERS; first++) {
		if (first != KIT_ANY && !make_pair(r, first, pair))
			continue;
		for (unsigned i = 0; i < 901; i++)
			kit_make_frame(r, &pair[i > 0]);
		for (unsigned i = 0; i < 40; i++)
			kit_submit(r, 1 + i * 3);
		kit_drain(r);
	}
}

static void test_provider(void) {
	static struct crypto_kit r;

	for (int direction = CRYPTO_DOWNLINK; direction <= CRYPTO_UPLINK; direction++) {
		kit_open(&r, provider, (enum crypto_direction)direction, 77 + (unsigned)direction);
		test_sizes_and_alignments(&r);
		test_mixed_bursts(&r);
		test_single_frames(&r);
		test_submission_without_collection(&r);
		assert_true(direction == CRYPTO_DOWNLINK || r.crc_wrong > 100);
		kit_close(&r);
		kit_free_pool(&r);
	}
	provider->functions->close(provider);
}

#ifndef VCMTS_NO_IPSEC_MB
/* ipsec_mb_open_isa() refuses an instruction set that the library or the CPU lacks. */
TEST(library_equals_model_with_each_instruction_set) {
	unsigned tested = 0;

	for (int isa = 0; isa < CRYPTO_ISAS; isa++) {
		provider = ipsec_mb_open_isa((enum crypto_isa)isa, SOCKET_ID_ANY);
		assert_true(provider != NULL || isa != CRYPTO_ISA_AUTO);
		if (provider == NULL)
			continue;
		test_provider();
		tested++;
	}
	assert_true(tested >= 2);
}
#endif

TEST(devices_equal_model) {
	static const struct {
		const char *name;
		unsigned may_lack; /* ciphers, as bits */
		int crc_ciphers; /* expected bits, or KIT_ANY */
	} device_cases[] = {
#ifndef VCMTS_NO_IPSEC_MB
		/* no DES with version 2.0 of the library */
		{"crypto_aesni_mb0", 1 << CIPHER_DES, 1 << CIPHER_AES_128 | 1 << CIPHER_AES_256},
#endif
		/* in DPDK 22.11 a scheduler has no DOCSIS security: the provider computes the CRC */
		{KIT_SCHEDULER ",mode=round-robin", 1 << CIPHER_DES, KIT_ANY},
		/* one operation for DES with residual block, two for AES */
		{"crypto_openssl0", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(device_cases); i++) {
		provider = open_device(device_cases[i].name);
		assert_non_null(provider);
		assert_int_equal(provider->ciphers | device_cases[i].may_lack, 0xf);
		if (device_cases[i].crc_ciphers != KIT_ANY)
			assert_int_equal(provider->crc_ciphers, device_cases[i].crc_ciphers);
		test_provider();
	}
}

TEST(unknown_devices_are_refused) {
	static const char *const names[] = {"crypto_null0", "crypto_nonsense0", "0000:ff:1f.7",
					    "crypto_scheduler0,worker=crypto_nonsense0",
					    "crypto_scheduler0"};
	const unsigned before = rte_cryptodev_count();

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		assert_null(open_device(names[i]));
	assert_int_equal(rte_cryptodev_count(), before);
}

ALL_TESTS(fixture_start, fixture_stop)
