/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests providers.c, isa.c and key_slots.c: a server's crypto providers by name, and keys and queues that the control
 * thread creates and frees while workers use the same provider. */
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

#define FRAMES 6000u /* per worker */
#define KEYS 300 /* more than a device's first session pool has */
#define SCHEDULE_SIZE 176u /* bytes of a key schedule; not a multiple of the cache line */
#define SLOTS 200u /* more than one chunk of key_slots.c */
#define KEY_BYTE 0xa5

static const struct crypto_providers_options options = {
	.queues = 8,
	.in_flight = 256,
	.timeout_ms = 60000, /* frames of a stalled worker must not count as lost */
	.socket = SOCKET_ID_ANY,
};

static void count_pool(struct rte_mempool *pool, void *count) {
	(void)pool;
	++*(unsigned *)count;
}

static unsigned pool_count(void) {
	unsigned count = 0;

	rte_mempool_walk(count_pool, &count);
	return count;
}

/* A server's providers with `queues` queues each; none is open. */
static struct crypto_providers *init_providers(unsigned queues) {
	static struct crypto_providers ps;

	crypto_providers_init(&ps, &options);
	ps.options.queues = queues;
	return &ps;
}

/* Returns the provider of this name; the first call opens it. */
static struct crypto_provider *find_or_open(struct crypto_providers *ps, const char *name) {
	struct crypto_provider *p = crypto_providers_find(ps, name);

	assert_non_null(p);
	return p;
}

/* Closes the providers; asserts that no device is left. */
static void close_providers(struct crypto_providers *ps) {
	crypto_providers_close(ps);
	assert_int_equal(rte_cryptodev_count(), 0);
}

/* A comma and arguments behind it are not part of a name. Unknown and unfit devices are refused and not counted. */
TEST(provider_is_opened_once_per_name) {
	const unsigned pools = pool_count();

	for (unsigned round = 0; round < 2; round++) {
		struct crypto_providers *ps = init_providers(8);
		struct crypto_provider *library = find_or_open(ps, NULL),
				       *device = find_or_open(ps, KIT_DEVICE);

		assert_ptr_not_equal(library, device);
		assert_ptr_equal(find_or_open(ps, crypto_default_device()), library);
		assert_ptr_equal(find_or_open(ps, KIT_DEVICE), device);
		assert_ptr_equal(find_or_open(ps, KIT_DEVICE ",max_nb_queue_pairs=2"), device);
		assert_null(crypto_providers_find(ps, "crypto_null0"));
		assert_null(crypto_providers_find(ps, "crypto_aesni_m"));
		find_or_open(ps, KIT_SCHEDULER);
		assert_int_equal(ps->count, 3);
		assert_int_equal(rte_cryptodev_count(), crypto_has_library() ? 4 : 5);
		close_providers(ps);
		assert_int_equal(pool_count(), pools);
	}
}

TEST(number_of_providers_is_limited) {
	struct crypto_providers *ps = init_providers(2); /* the self-test needs two */
	char name[32];

	for (unsigned i = 0; i < CRYPTO_PROVIDERS_MAX; i++) {
		snprintf(name, sizeof(name), "crypto_openssl%u", i);
		find_or_open(ps, name);
	}
	assert_null(crypto_providers_find(ps, "crypto_openssl99"));
	assert_ptr_equal(find_or_open(ps, name), ps->open[CRYPTO_PROVIDERS_MAX - 1]);
	close_providers(ps);
}

/* Without intel-ipsec-mb the default is crypto_openssl0, and CRYPTO_LIBRARY is refused. crypto_standalone_open()
 * opens a new provider each time, which the server neither counts nor closes. */
TEST(default_provider_depends_on_the_build) {
	struct crypto_provider *separate[2];
	struct crypto_providers *ps = init_providers(8);
	char text[128];

	separate[0] = crypto_standalone_open(SOCKET_ID_ANY);
	assert_string_equal(crypto_provider_text(find_or_open(ps, NULL), text, sizeof(text)),
			    crypto_has_library()
				    ? "ipsec-mb: AES-128 with CRC, AES-256 with CRC, DES"
				    : "crypto_openssl0: AES-128, AES-256, DES");
	separate[1] = crypto_standalone_open(SOCKET_ID_ANY);
	assert_true(separate[0] != NULL && separate[1] != NULL && separate[0] != separate[1]);
	assert_string_equal(ps->open[0]->name, crypto_default_device());
	assert_int_equal(ps->open[0]->ciphers, 0xf);
	assert_true((crypto_providers_find(ps, CRYPTO_LIBRARY) != NULL) == crypto_has_library());
	assert_int_equal(ps->count, 1);
	crypto_close(separate[0]);
	assert_string_equal(
		crypto_provider_text(find_or_open(ps, "crypto_openssl1"), text, sizeof(text)),
		"crypto_openssl1: AES-128, AES-256, DES");
	crypto_provider_text(ps->open[1], text, 12);
	assert_string_equal(text, "crypto_open");
	crypto_providers_close(ps);
	crypto_close(separate[1]);
	assert_int_equal(rte_cryptodev_count(), 0);
}

TEST(isa_names_parse_back) {
	enum crypto_isa isa;

	for (int i = 0; i < CRYPTO_ISAS; i++) {
		assert_true(crypto_isa_parse(crypto_isa_name((enum crypto_isa)i), &isa));
		assert_int_equal(isa, i);
	}
	assert_false(crypto_isa_parse("", &isa));
	assert_false(crypto_isa_parse("avx5", &isa));
}

/* Creates and frees KEYS keys three times; the provider reuses freed ones. AES-128 replaces DES if the self-test
 * removed DES from the provider. */
static void create_and_free_keys(struct crypto_provider *p) {
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

static atomic_uint running; /* worker threads */

/* Has a kit encrypt or decrypt FRAMES frames and check each. */
static void *run_worker(void *arg) {
	const struct kit_shape s = {0, 400, KIT_ANY, KIT_ANY, KIT_ANY};
	struct crypto_kit *r = arg;

	while (r->made < FRAMES) {
		kit_feed(r, 1 + random_below(&r->random, CRYPTO_BURST), &s);
		if (random_below(&r->random, 8) == 0)
			kit_drain(r);
	}
	kit_drain(r);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

/* Does what the control thread does when groups are added and removed and keys roll over. */
static void change_keys_and_queues(struct crypto_provider *p) {
	struct crypto_queue *queues[4];

	for (unsigned q = 0; q < RTE_DIM(queues); q++) {
		queues[q] = crypto_queue_open(p, (enum crypto_direction)(q % 2));
		assert_non_null(queues[q]);
	}
	create_and_free_keys(p);
	for (unsigned q = 0; q < RTE_DIM(queues); q++)
		crypto_queue_close(queues[q]);
}

TEST(keys_and_queues_change_while_workers_run) {
	static const char *const devices[] = {NULL, KIT_DEVICE};
	static struct crypto_kit kits[2];

	for (unsigned d = 0; d < RTE_DIM(devices); d++) {
		struct crypto_providers *ps = init_providers(8);
		struct crypto_provider *p = find_or_open(ps, devices[d]);
		pthread_t threads[2];

		atomic_store(&running, 2);
		for (unsigned i = 0; i < 2; i++) {
			kit_open(&kits[i], p, (enum crypto_direction)i, 5 + i);
			assert_int_equal(pthread_create(&threads[i], NULL, run_worker, &kits[i]),
					 0);
		}
		do
			change_keys_and_queues(p);
		while (atomic_load(&running) > 0);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(pthread_join(threads[i], NULL), 0);
			kit_close(&kits[i]);
			kit_free_pool(&kits[i]);
		}
		close_providers(ps);
	}
}

TEST(freed_key_slot_is_zeroed) {
	uint8_t *slots[SLOTS];
	struct key_slots k;

	key_slots_init(&k, SCHEDULE_SIZE, SOCKET_ID_ANY);
	assert_true(k.size >= SCHEDULE_SIZE);
	for (unsigned i = 0; i < SLOTS; i++) {
		slots[i] = key_slots_alloc(&k);
		assert_non_null(slots[i]);
		memset(slots[i], KEY_BYTE, k.size);
	}
	assert_int_equal(k.used, SLOTS);
	for (unsigned i = 0; i < SLOTS; i++) {
		key_slots_release(&k, slots[i]);
		/* a free slot begins with the pointer to the next one */
		for (size_t byte = sizeof(void *); byte < k.size; byte++)
			assert_int_equal(slots[i][byte], 0);
		assert_int_not_equal(memcmp(slots[i], "\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5", 8), 0);
	}
	assert_int_equal(k.used, 0);
	key_slots_end(&k);
}

/* A device opens `options.queues` queues, of both directions together. It refuses the next one until one is closed. */
TEST(number_of_queues_is_limited) {
	struct crypto_providers *ps = init_providers(8);
	struct crypto_provider *p = find_or_open(ps, KIT_DEVICE);
	struct crypto_queue *queues[8] = {NULL};

	for (unsigned n = 0; n < 3 * RTE_DIM(queues); n++) {
		struct crypto_queue **q = &queues[n * 3 % RTE_DIM(queues)];

		if (*q != NULL) {
			assert_null(crypto_queue_open(p, CRYPTO_UPLINK));
			crypto_queue_close(*q);
		}
		*q = crypto_queue_open(p, n / 8 % 2 ? CRYPTO_UPLINK : CRYPTO_DOWNLINK);
		assert_non_null(*q);
	}
	for (unsigned q = 0; q < RTE_DIM(queues); q++)
		crypto_queue_close(queues[q]);
	close_providers(ps);
}

/* The self-test fails, and does not hang, if operations fail, are refused or do not return. It passes if they are
 * only late or reordered. */
TEST(self_test_finds_faulty_device) {
	static const struct {
		struct faults faults;
		bool good;
	} cases[] = {
		{{.reorders = false}, true},
		{{.fail_one_in = 5}, false},
		{{.accepts_none = true}, false},
		{{.returns_none = true}, false},
		{{.accepts_part = true, .max_delay = 50, .reorders = true}, true},
	};
	struct crypto_providers *ps = init_providers(8);
	struct crypto_provider *p;

	ps->options.timeout_ms = 0; /* frames are lost after a number of polls */
	p = find_or_open(ps, KIT_DEVICE);
	faulty_attach(KIT_DEVICE);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		faults = cases[i].faults;
		assert_int_equal(crypto_self_test(p),
				 cases[i].good ? 0 : p->ciphers & ~(1u << CIPHER_NONE));
	}
	close_providers(ps);
	faulty_detach();
}

ALL_TESTS(fixture_start, fixture_stop)
