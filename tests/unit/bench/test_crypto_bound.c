/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which frames crypto_bound.c passes to the provider, and which operations it requests. */
#include "test_main.h"

#include "crypto_bound.h"

#include "fixture.h"

#define FRAMES 2048

static uint64_t submitted;
static unsigned parts; /* of all submitted frames */
static struct rte_mempool *pool;

static struct crypto_queue *fake_open(struct crypto_provider *p, enum crypto_direction direction) {
	static struct crypto_queue queue;

	(void)direction;
	queue = (struct crypto_queue){.provider = p};
	return &queue;
}

static void fake_close(struct crypto_queue *q) {
	assert_int_equal(q->pending, 0);
}

static uint16_t fake_submit(struct crypto_queue *q, const struct crypto_frame *frames, uint16_t n) {
	for (unsigned i = 0; i < n; i++)
		parts |= frames[i].parts;
	q->pending += n;
	submitted += n;
	return n;
}

static uint16_t fake_collect(struct crypto_queue *q, struct rte_mbuf **good,
			     struct crypto_failed *failed, uint16_t *failures) {
	uint16_t n = (uint16_t)q->pending;

	q->pending = 0;
	return n;
}

static int open_all(void **state) {
	fixture_start(state);
	pool = fixture_pool_create("frames", FRAMES, FIXTURE_BUFFER_SIZE);
	return 0;
}

static int close_all(void **state) {
	fixture_pool_free(pool);
	return fixture_stop(state);
}

ALL_TESTS(open_all, close_all)

/* Measures a group of one modem, as configured in `sg`. */
static double measure(struct service_group *sg, enum crypto_direction direction, enum cipher cipher,
		      struct rte_mempool *from) {
	static const struct crypto_functions functions = {
		.queue_open = fake_open,
		.queue_close = fake_close,
		.submit = fake_submit,
		.collect = fake_collect,
	};
	const struct mix mix = {.sizes = {500}, .weights = {1}, .count = 1};
	static struct crypto_provider provider = {.functions = &functions};
	static struct served_group group;
	static struct server server;
	static void *schedules[2];
	struct modem modem = {.security.cipher = cipher};

	sg->modems = &modem;
	group = (struct served_group){
		.live.modems = 1,
		.sg = sg,
		.crypto = {.provider = &provider,
			   .schedules = schedules,
			   .up_schedules = schedules},
	};
	server.groups = &group;
	server.pools.packets = server.pools.frames = from;
	submitted = parts = 0;
	return crypto_bound(&server, direction, &mix, 1);
}

TEST(downstream_has_configured_operations) {
	struct service_group sg = {.crypto.generate_crc = true};

	assert_true(measure(&sg, CRYPTO_DOWNLINK, CIPHER_AES_128, pool) >= 0);
	assert_int_equal(parts, CRYPTO_CIPHER | CRYPTO_CRC);
	sg.crypto.generate_crc = false;
	assert_true(measure(&sg, CRYPTO_DOWNLINK, CIPHER_AES_128, pool) >= 0);
	assert_int_equal(parts, CRYPTO_CIPHER);
}

TEST(upstream_has_configured_operations) {
	struct service_group sg = {.upstream.verify_crc = true};

	assert_true(measure(&sg, CRYPTO_UPLINK, CIPHER_AES_128, pool) >= 0);
	assert_int_equal(parts, CRYPTO_CIPHER | CRYPTO_CRC);
	sg.upstream.verify_crc = false;
	assert_true(measure(&sg, CRYPTO_UPLINK, CIPHER_AES_128, pool) >= 0);
	assert_int_equal(parts, CRYPTO_CIPHER);
}

TEST(clear_frames_upstream_are_not_submitted) {
	struct service_group sg = {.upstream.verify_crc = true};

	assert_true(measure(&sg, CRYPTO_UPLINK, CIPHER_NONE, pool) >= 0);
	assert_int_equal(submitted, 0);
}

TEST(too_few_mbufs_give_no_figure) {
	struct rte_mempool *few = fixture_pool_create("few", 3, FIXTURE_BUFFER_SIZE);
	struct service_group sg = {0};

	assert_true(measure(&sg, CRYPTO_UPLINK, CIPHER_AES_128, few) < 0);
	fixture_pool_free(few);
}
