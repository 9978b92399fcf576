/* SPDX-License-Identifier: BSD-3-Clause */
/* The crypto device: after crypto_close() nothing is left of it. */
#include "test.h"

#include <rte_cryptodev.h>

#include "platform/crypto.h"

#include "fixture.h"

#define OPS 512

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

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_can_be_made_again),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
