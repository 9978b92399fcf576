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

/* Where memory is short for either pool, nothing is left. */
static void device_that_cannot_be_had(void **state) {
	const unsigned pools = pool_count();
	struct docsis_crypto c;

	(void)state;
	assert_int_equal(crypto_open(&c, "again", 1, 1, 10000000), -1);
	assert_null(c.ops);
	assert_int_equal(rte_cryptodev_count(), 0);
	assert_int_equal(pool_count(), pools);
	assert_int_equal(crypto_open(&c, "again", 1, 10000000, OPS), -1);
	assert_null(c.ops);
	assert_int_equal(rte_cryptodev_count(), 0);
	assert_int_equal(pool_count(), pools);
	assert_int_equal(crypto_open(&c, "again", 1, 1, OPS), 0);
	crypto_stop(&c);
	crypto_close(&c);
	assert_int_equal(pool_count(), pools);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_can_be_made_again),
		cmocka_unit_test(device_that_cannot_be_had),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
