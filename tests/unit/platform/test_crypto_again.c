/* SPDX-License-Identifier: BSD-3-Clause */
/* The crypto device: after crypto_close() nothing is left of it. */
#include "test.h"

#include <rte_cryptodev.h>

#include "platform/crypto.h"

#include "fixture.h"

#define OPS 512

static void count_pool(struct rte_mempool *pool, void *count) {
	(void)pool;
	++*(unsigned *)count;
}

static unsigned pool_count(void) {
	unsigned count = 0;

	rte_mempool_walk(count_pool, &count);
	return count;
}

/* One of the same name can be made, with more queues than before. */
static void device_can_be_made_again(void **state) {
	const uint8_t key[16] = {0};

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		struct docsis_crypto c;
		void *session;

		assert_int_equal(crypto_open(&c, "again", 1 + round, 1, OPS), 0);
		assert_int_equal(rte_cryptodev_count(), 1);
		session = crypto_session(&c, CRYPTO_UPLINK, key);
		assert_non_null(session);
		crypto_session_free(&c, session);
		crypto_close(&c);
		assert_int_equal(rte_cryptodev_count(), 0);
	}
}

/* Where memory is short, nothing is left. */
static void device_that_cannot_be_had(void **state) {
	const unsigned pools = pool_count();
	struct docsis_crypto c;

	(void)state;
	assert_int_equal(crypto_open(&c, "again", 1, 1, 10000000), -1);
	assert_null(c.ops);
	assert_int_equal(rte_cryptodev_count(), 0);
	assert_int_equal(pool_count(), pools);
	assert_int_equal(crypto_open(&c, "again", 1, 1, OPS), 0);
	crypto_stop(&c);
	crypto_close(&c);
	assert_int_equal(pool_count(), pools);
}

/* Sessions take memory as they come, in pools of a few, up to what was asked for. */
static void sessions_come_in_pools(void **state) {
	static void *sessions[100];
	const unsigned pools = pool_count();
	const uint8_t key[16] = {0};
	struct docsis_crypto c;

	(void)state;
	assert_int_equal(crypto_open(&c, "again", 1, 99, OPS), 0);
	assert_int_equal(pool_count(), pools + 1); /* of operations */
	for (unsigned s = 0; s < 99; s++) {
		sessions[s] = crypto_session(&c, CRYPTO_UPLINK, key);
		assert_non_null(sessions[s]);
		assert_int_equal(pool_count(), pools + (s < 64 ? 2 : 3));
	}
	assert_null(crypto_session(&c, CRYPTO_UPLINK, key));
	/* what a pool gets back is taken before another one is made */
	crypto_session_free(&c, sessions[7]);
	sessions[7] = crypto_session(&c, CRYPTO_DOWNLINK, key);
	assert_non_null(sessions[7]);
	assert_null(crypto_session(&c, CRYPTO_UPLINK, key));
	for (unsigned s = 0; s < 99; s++)
		crypto_session_free(&c, sessions[s]);
	crypto_close(&c);
	assert_int_equal(pool_count(), pools);
}

/* Where there is no memory for a pool of them, there is no session, and nothing is left. */
static void sessions_without_memory(void **state) {
	const unsigned pools = pool_count();
	const uint8_t key[16] = {0};
	struct docsis_crypto c;

	(void)state;
	assert_int_equal(crypto_open(&c, "again", 1, 100000000, OPS), 0);
	assert_null(crypto_session(&c, CRYPTO_UPLINK, key));
	assert_null(crypto_session(&c, CRYPTO_UPLINK, key));
	crypto_close(&c);
	assert_int_equal(rte_cryptodev_count(), 0);
	assert_int_equal(pool_count(), pools);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_can_be_made_again),
		cmocka_unit_test(device_that_cannot_be_had),
		cmocka_unit_test(sessions_come_in_pools),
		cmocka_unit_test(sessions_without_memory),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
