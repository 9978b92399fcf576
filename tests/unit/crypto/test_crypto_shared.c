/* SPDX-License-Identifier: BSD-3-Clause */
/* The providers of a server: found by name, shared by its groups, whose keys and queues come and go while others work. */
#include "test_main.h"

#include <pthread.h>
#include <stdatomic.h>

#include <rte_cryptodev.h>
#include <rte_mempool.h>

#include "crypto/key_slots.h"
#include "crypto/providers.h"
#include "crypto/self_test.h"

#include "crypto_kit.h"
#include "fake_device.h"
#include "fixture.h"

#define FRAMES 6000u /* of a worker */
#define KEYS 300
#define SIZE 176u /* bytes of a key schedule: no whole cache lines */
#define SLOTS 200u /* several chunks */
#define KEY 0xa5

static const struct crypto_providers_options options = {
	.queues = 8, .in_flight = 256, .timeout_ms = 60000, .socket = SOCKET_ID_ANY};

static void count_pool(struct rte_mempool *pool, void *count) {
	(void)pool;
	++*(unsigned *)count;
}

static unsigned pool_count(void) {
	unsigned count = 0;

	rte_mempool_walk(count_pool, &count);
	return count;
}

/* A server's providers, of which none is open yet. */
static struct crypto_providers *begin(unsigned queues) {
	static struct crypto_providers ps;

	crypto_providers_init(&ps, &options);
	ps.options.queues = queues;
	return &ps;
}

static struct crypto_provider *find(struct crypto_providers *ps, const char *name) {
	struct crypto_provider *p = crypto_providers_find(ps, name);

	assert_non_null(p);
	return p;
}

/* Nothing is left of them. */
static void end(struct crypto_providers *ps) {
	crypto_providers_close(ps);
	assert_int_equal(rte_cryptodev_count(), 0);
}

TEST(each_is_opened_once) {
	const unsigned pools = pool_count();

	for (unsigned round = 0; round < 2; round++) {
		struct crypto_providers *ps = begin(8);
		struct crypto_provider *library = find(ps, NULL), *device = find(ps, KIT_DEVICE);

		assert_ptr_not_equal(library, device);
		assert_ptr_equal(find(ps, crypto_own()), library);
		assert_ptr_equal(find(ps, KIT_DEVICE), device);
		assert_ptr_equal(find(ps, KIT_DEVICE ",max_nb_queue_pairs=2"), device);
		assert_null(crypto_providers_find(ps, "crypto_null0"));
		assert_null(crypto_providers_find(ps, "crypto_aesni_m"));
		find(ps, KIT_SCHEDULER);
		assert_int_equal(ps->count, 3);
		assert_int_equal(rte_cryptodev_count(), crypto_has_library() ? 4 : 5);
		end(ps);
		assert_int_equal(pool_count(), pools);
	}
}

TEST(no_more_than_there_is_place_for) {
	struct crypto_providers *ps = begin(2); /* for the self-test */
	char name[32];

	for (unsigned i = 0; i < CRYPTO_PROVIDERS_MOST; i++) {
		snprintf(name, sizeof(name), "crypto_openssl%u", i);
		find(ps, name);
	}
	assert_null(crypto_providers_find(ps, "crypto_openssl99"));
	assert_ptr_equal(find(ps, name), ps->open[CRYPTO_PROVIDERS_MOST - 1]);
	end(ps);
}

/* A provider that this build has not got is refused as any other, and those that are no server's are none of its own. */
TEST(what_the_build_has) {
	struct crypto_provider *apart[2];
	struct crypto_providers *ps = begin(8);
	char text[128];

	apart[0] = crypto_apart_open(SOCKET_ID_ANY);
	assert_string_equal(crypto_provider_text(find(ps, NULL), text, sizeof(text)),
			    crypto_has_library()
				    ? "ipsec-mb: AES-128 with CRC, AES-256 with CRC, DES"
				    : "crypto_openssl0: AES-128, AES-256, DES");
	apart[1] = crypto_apart_open(SOCKET_ID_ANY);
	assert_true(apart[0] != NULL && apart[1] != NULL && apart[0] != apart[1]);
	assert_string_equal(ps->open[0]->name, crypto_own());
	assert_int_equal(ps->open[0]->ciphers, 0xf);
	assert_true((crypto_providers_find(ps, CRYPTO_LIBRARY) != NULL) == crypto_has_library());
	assert_int_equal(ps->count, 1);
	crypto_close(apart[0]);
	assert_string_equal(crypto_provider_text(find(ps, "crypto_openssl1"), text, sizeof(text)),
			    "crypto_openssl1: AES-128, AES-256, DES");
	crypto_provider_text(ps->open[1], text, 12);
	assert_string_equal(text, "crypto_open");
	crypto_providers_close(ps);
	crypto_close(apart[1]);
	assert_int_equal(rte_cryptodev_count(), 0);
}

TEST(names_of_code) {
	enum crypto_isa isa;

	for (int i = 0; i < CRYPTO_ISAS; i++) {
		assert_true(crypto_isa_parse(crypto_isa_name((enum crypto_isa)i), &isa));
		assert_int_equal(isa, i);
	}
	assert_false(crypto_isa_parse("", &isa));
	assert_false(crypto_isa_parse("avx5", &isa));
}

/* More than the first pool has, and again what was given back. Some libraries are wrong with DES, which is left out then. */
static void keys_come_and_go(struct crypto_provider *p) {
	const enum cipher third = p->ciphers & 1u << CIPHER_DES ? CIPHER_DES : CIPHER_AES_128;
	static void *keys[KEYS];
	const uint8_t bytes[32] = {1};
	const unsigned pools = pool_count();

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned k = 0; k < KEYS; k++) {
			keys[k] = crypto_key_make(p, (enum crypto_direction)(k % 2),
						  k % 3 == 0 ? third : CIPHER_AES_256, bytes);
			assert_non_null(keys[k]);
		}
		for (unsigned k = 0; k < KEYS; k++)
			crypto_key_free(p, (enum crypto_direction)(k % 2),
					k % 3 == 0 ? third : CIPHER_AES_256, keys[k]);
		assert_true(pool_count() <= pools + 8);
	}
}

static atomic_uint working;

static void *work(void *arg) {
	const struct kit_shape s = {0, 400, KIT_ANY, KIT_ANY, KIT_ANY};
	struct crypto_kit *r = arg;

	while (r->given < FRAMES) {
		kit_feed(r, 1 + random_below(&r->random, CRYPTO_BURST), &s);
		if (random_below(&r->random, 8) == 0)
			kit_drain(r);
	}
	kit_drain(r);
	atomic_fetch_sub(&working, 1);
	return NULL;
}

/* As groups that come and go beside others, and as keys that are rolled. */
static void control(struct crypto_provider *p) {
	struct crypto_queue *queues[4];

	for (unsigned q = 0; q < RTE_DIM(queues); q++) {
		queues[q] = crypto_queue_open(p, (enum crypto_direction)(q % 2));
		assert_non_null(queues[q]);
	}
	keys_come_and_go(p);
	for (unsigned q = 0; q < RTE_DIM(queues); q++)
		crypto_queue_close(queues[q]);
}

TEST(keys_and_queues_beside_workers) {
	static const char *const devices[] = {NULL, KIT_DEVICE};
	static struct crypto_kit kits[2];

	for (unsigned d = 0; d < RTE_DIM(devices); d++) {
		struct crypto_providers *ps = begin(8);
		struct crypto_provider *p = find(ps, devices[d]);
		pthread_t threads[2];

		atomic_store(&working, 2);
		for (unsigned i = 0; i < 2; i++) {
			kit_open(&kits[i], p, (enum crypto_direction)i, 5 + i);
			assert_int_equal(pthread_create(&threads[i], NULL, work, &kits[i]), 0);
		}
		do
			control(p);
		while (atomic_load(&working) > 0);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(pthread_join(threads[i], NULL), 0);
			kit_close(&kits[i]);
			kit_end(&kits[i]);
		}
		end(ps);
	}
}

TEST(a_key_leaves_nothing) {
	uint8_t *slots[SLOTS];
	struct key_slots k;

	key_slots_init(&k, SIZE, SOCKET_ID_ANY);
	assert_true(k.size >= SIZE);
	for (unsigned i = 0; i < SLOTS; i++) {
		slots[i] = key_slots_take(&k);
		assert_non_null(slots[i]);
		memset(slots[i], KEY, k.size);
	}
	assert_int_equal(k.used, SLOTS);
	for (unsigned i = 0; i < SLOTS; i++) {
		key_slots_give(&k, slots[i]);
		/* the list of free slots stands at its begin */
		for (size_t byte = sizeof(void *); byte < k.size; byte++)
			assert_int_equal(slots[i][byte], 0);
		assert_int_not_equal(memcmp(slots[i], "\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5", 8), 0);
	}
	assert_int_equal(k.used, 0);
	key_slots_end(&k);
}

/* There is room for so many queues, and for one again that is closed. */
TEST(queues_are_counted) {
	struct crypto_providers *ps = begin(8);
	struct crypto_provider *p = find(ps, KIT_DEVICE);
	struct crypto_queue *queues[8] = {NULL};

	for (unsigned turn = 0; turn < 3 * RTE_DIM(queues); turn++) {
		struct crypto_queue **q = &queues[turn * 3 % RTE_DIM(queues)];

		if (*q != NULL) {
			assert_null(crypto_queue_open(p, CRYPTO_UPLINK));
			crypto_queue_close(*q);
		}
		*q = crypto_queue_open(p, turn / 8 % 2 ? CRYPTO_UPLINK : CRYPTO_DOWNLINK);
		assert_non_null(*q);
	}
	for (unsigned q = 0; q < RTE_DIM(queues); q++)
		crypto_queue_close(queues[q]);
	end(ps);
}

/* The start does not wait for a device that is not there, and does not take one that is wrong. */
TEST(a_faulty_device_fails_the_self_test) {
	static const struct {
		struct faults faults;
		bool good;
	} cases[] = {
		{{.any_order = false}, true},
		{{.fails = 5}, false},
		{{.takes_nothing = true}, false},
		{{.gives_nothing = true}, false},
		{{.takes_part = true, .late = 50, .any_order = true}, true},
	};
	struct crypto_providers *ps = begin(8);
	struct crypto_provider *p;

	ps->options.timeout_ms = 0;
	p = find(ps, KIT_DEVICE);
	faulty_attach(KIT_DEVICE);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		faults = cases[i].faults;
		assert_int_equal(crypto_self_test(p),
				 cases[i].good ? 0 : p->ciphers & ~(1u << CIPHER_NONE));
	}
	end(ps);
	faulty_detach();
}

ALL_TESTS(fixture_start, fixture_stop)
