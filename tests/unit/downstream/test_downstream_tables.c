/* SPDX-License-Identifier: BSD-3-Clause */
/* The downstream's tables hold what is configured, and nothing else. */
#include "test.h"

#include <rte_hash.h>

#include "lookup_bench.h"

static void as_many_addresses_as_there_are(void **state) {
	const struct service_group *sg = &lookup_bench.sg;
	int32_t ipv4 = 0, ipv6 = 0;

	(void)state;
	for (size_t m = 0; m < sg->modem_count; m++) {
		for (size_t a = 0; a < sg->modems[m].address_count; a++)
			(*(sg->modems[m].addresses[a].family == 4 ? &ipv4 : &ipv6))++;
	}
	assert_int_equal(rte_hash_count(lookup_bench.tables.ipv4), ipv4);
	assert_int_equal(rte_hash_count(lookup_bench.tables.ipv6), ipv6);
	assert_int_equal(rte_hash_count(lookup_bench.tables.mac), sg->modem_count);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_addresses_as_there_are),
		cmocka_unit_test(lookup_bench_end),
	};

	return cmocka_run_group_tests(tests, lookup_bench_open, NULL);
}
