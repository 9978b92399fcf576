/* SPDX-License-Identifier: BSD-3-Clause */
/* The downstream's tables hold what is configured, and nothing else. */
#include "test_main.h"

#include <string.h>

#include <rte_byteorder.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "downstream/downstream.h"

#include "fixture.h"

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

TEST(room_for_many_addresses) {
	room_for_each_family(4);
	room_for_each_family(6);
}

#define CROWD 64 /* addresses: as many as there is room for */

/* Addresses whose hashes agree in all bits by which a table finds buckets, both of them: there is room for 16. */
static void crowd_fill(struct ip_address *crowd) {
	const uint32_t same = 0x00ff00ff;
	unsigned count = 0;

	for (uint32_t i = 1; count < CROWD; i++) {
		uint32_t word = rte_cpu_to_be_32(0x0a000000U + i);

		if ((rte_hash_crc_4byte(word, 0) & same) != 0)
			continue;
		crowd[count].family = 4;
		memcpy(crowd[count++].bytes, &word, sizeof(word));
	}
}

/* However they fall, all that there is room for finds its place: later, nothing can be refused. */
TEST(room_for_a_crowd) {
	static struct ip_address crowd[CROWD];
	static struct service_flow flow = {.id = 1, .active = true};
	static void *const no_sessions[1];
	struct modem modem = {.mac = {2, 8},
			      .addresses = crowd,
			      .address_count = 1,
			      .service_flows = &flow,
			      .service_flow_count = 1};
	const struct service_group sg = {.id = 8, .modems = &modem, .modem_count = 1};
	const struct group_room room = {.modems = 10, .ipv4 = CROWD, .flows = 20, .channels = 3};
	struct ds_tables t;

	crowd_fill(crowd);
	assert_int_equal(ds_tables_create(&t, &sg, &room, no_sessions), 0);
	assert_int_equal(t.room.modems, 10);
	assert_int_equal(t.flow_count, 20);
	for (uint64_t i = 1; i < CROWD; i++)
		assert_int_equal(rte_hash_add_key_data(t.ipv4, crowd[i].bytes, (void *)i), 0);
	for (uint64_t i = 0; i < CROWD; i++) {
		void *place;

		assert_true(rte_hash_lookup_data(t.ipv4, crowd[i].bytes, &place) >= 0);
		assert_int_equal((uint64_t)place, i);
	}
	ds_tables_free(&t);
}

ALL_TESTS(fixture_start, fixture_stop)
