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

/* More of each family than a table has place for that is made for the other one. */
static void room_for_each_family(uint8_t family) {
	enum { MODEMS = 8 };
	static struct ip_address addresses[MODEMS][SG_MAX_MODEM_ADDRESSES];
	static struct service_flow flow = {.id = 1, .active = true};
	static void *const no_sessions[MODEMS];
	struct modem modems[MODEMS] = {0};
	const struct service_group sg = {.id = 7, .modems = modems, .modem_count = MODEMS};
	struct ds_tables tables;

	for (uint8_t m = 0; m < MODEMS; m++) {
		modems[m] = (struct modem){.mac = {2, 7, m},
					   .addresses = addresses[m],
					   .address_count = SG_MAX_MODEM_ADDRESSES,
					   .service_flows = &flow,
					   .service_flow_count = 1};
		for (uint8_t a = 0; a < SG_MAX_MODEM_ADDRESSES; a++)
			addresses[m][a] = (struct ip_address){family, {family, m, a}};
	}
	assert_int_equal(ds_tables_create(&tables, &sg, NULL, no_sessions), 0);
	assert_int_equal(rte_hash_count(family == 4 ? tables.ipv4 : tables.ipv6),
			 MODEMS * SG_MAX_MODEM_ADDRESSES);
	ds_tables_free(&tables);
}

static void room_for_many_addresses(void **state) {
	(void)state;
	room_for_each_family(4);
	room_for_each_family(6);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_addresses_as_there_are),
		cmocka_unit_test(room_for_many_addresses),
		cmocka_unit_test(lookup_bench_end),
	};

	return cmocka_run_group_tests(tests, lookup_bench_open, NULL);
}
