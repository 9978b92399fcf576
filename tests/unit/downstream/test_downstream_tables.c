/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the tables of the downstream: capacity for addresses, settings from the configuration, drop
 * reasons of the scheduler's refusals. */
#include "test_main.h"

#include <rte_byteorder.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "lookup_kit.h"

#define MODEMS 64
#define COLLISIONS 64 /* addresses; also the capacity */

static struct ip_address addresses[8][SG_MAX_MODEM_ADDRESSES];

/* Creates tables for `count` modems with `each` addresses. */
static void create_tables(struct ds_tables *t, unsigned count, size_t each,
			  const struct group_capacity *capacity) {
	static struct service_flow flow = {.id = 1, .active = true};
	struct modem modems[8];
	const struct service_group sg = {.id = 7, .modems = modems, .modem_count = count};

	for (unsigned m = 0; m < count; m++)
		modems[m] = (struct modem){.mac = {2, 7, (uint8_t)m},
					   .addresses = addresses[m],
					   .address_count = each,
					   .service_flows = &flow,
					   .service_flow_count = 1};
	assert_int_equal(ds_tables_create(t, &sg, capacity, lookup_no_schedules), 0);
}

/* Each family has capacity for its own addresses, also if there are none of the other. */
TEST(tables_have_capacity_for_either_family) {
	for (uint8_t family = 4; family <= 6; family += 2) {
		struct ds_tables t;

		for (uint8_t m = 0; m < 8; m++) {
			for (uint8_t a = 0; a < SG_MAX_MODEM_ADDRESSES; a++)
				addresses[m][a] = (struct ip_address){family, {family, m, a}};
		}
		create_tables(&t, 8, SG_MAX_MODEM_ADDRESSES, NULL);
		assert_int_equal(rte_hash_count(family == 4 ? t.ipv4 : t.ipv6),
				 8 * SG_MAX_MODEM_ADDRESSES);
		ds_tables_free(&t);
	}
}

/* Addresses whose hashes select the same two buckets, which have 16 entries. Additions up to the
 * capacity of the table must not fail. */
TEST(colliding_addresses_fit_up_to_capacity) {
	const struct group_capacity capacity = {
		.modems = 10, .ipv4 = COLLISIONS, .flows = 20, .channels = 3};
	uint32_t colliding[COLLISIONS];
	struct ds_tables t;
	unsigned count = 0;

	for (uint32_t i = 1; count < COLLISIONS; i++) {
		colliding[count] = rte_cpu_to_be_32(0x0a000000U + i);
		count += (rte_hash_crc_4byte(colliding[count], 0) & 0x00ff00ff) == 0;
	}
	addresses[0][0] = (struct ip_address){.family = 4};
	memcpy(addresses[0][0].bytes, &colliding[0], sizeof(colliding[0]));
	create_tables(&t, 1, 1, &capacity);
	assert_int_equal(t.capacity.modems, 10);
	assert_int_equal(t.flow_count, 20);
	for (uint64_t i = 1; i < COLLISIONS; i++)
		assert_int_equal(rte_hash_add_key_data(t.ipv4, &colliding[i], (void *)i), 0);
	for (uint64_t i = 0; i < COLLISIONS; i++) {
		void *value;

		assert_true(rte_hash_lookup_data(t.ipv4, &colliding[i], &value) >= 0);
		assert_int_equal((uint64_t)value, i);
	}
	ds_tables_free(&t);
}

TEST(scheduler_refusals_have_drop_reasons) {
	static const char *const names[SCHEDULER_VERDICTS] = {
		[SCHEDULER_FLOW_FULL] = "flow_buffer_full",
		[SCHEDULER_FULL] = "scheduler_full",
		[SCHEDULER_WRED_DROP] = "wred_drop",
		[SCHEDULER_PIE_DROP] = "docsis_pie_drop",
		[SCHEDULER_TOO_LONG] = "longer_than_burst",
		[SCHEDULER_NO_FLOW] = "service_flow_removed",
	};

	for (size_t i = 0; i < SCHEDULER_VERDICTS; i++) {
		if (i != SCHEDULER_QUEUED)
			assert_string_equal(drop_name(ds_refusals[i]), names[i]);
	}
}

static const char head[] = "name: setup\nservice_group: 1\n%s"
			   "channels:\n  - {id: 1, type: ofdm, rate: 1 Gbps, session: 1}\n"
			   "bonding_groups:\n  - {id: 1, channels: [1]}\nmodems:\n";
static const char modem[] =
	"  - {mac: '02:01:00:00:00:%02x', addresses: [10.0.0.%u], bonding_group: 1,\n"
	"     security: {said: %u, cipher: none}, service_flows: [{id: %u}]}\n";

static struct downstream *create_downstream(struct service_group *sg, const char *options,
					    unsigned modems) {
	static struct clock now;
	static char text[MODEMS * 512];
	size_t used = (size_t)snprintf(text, sizeof(text), head, options);

	for (unsigned i = 0; i < modems; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, modem, i, i, i + 1,
					 i + 1);
	return lookup_downstream(sg, text, &now);
}

/* Values from the configuration, and defaults. */
TEST(settings_follow_configuration) {
	static const struct {
		const char *options;
		unsigned modems;
		uint32_t records; /* of the flow cache */
	} cases[] = {
		{"filter_default: deny\nmax_frame: 1600\n", 1, 4096},
		/* 33 * 128, rounded down to a power of two */
		{"filter_default: permit\n", 33, 4096},
		{"", 64, 64 * 128},
		{"flow_cache: 0\n", 33, 0},
		{"flow_cache: 1\n", 1, 1},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct service_group sg;
		struct downstream *d = create_downstream(&sg, cases[i].options, cases[i].modems);

		assert_int_equal(ds_flow_records(&sg), cases[i].records);
		assert_int_equal(d->upper.flow_cache.records != NULL, cases[i].records > 0);
		if (cases[i].records > 0)
			assert_int_equal(d->upper.flow_cache.mask, cases[i].records - 1);
		assert_int_equal(d->tables.modems[cases[i].modems - 1].filter_default,
				 i == 0 ? FILTER_DENY : FILTER_PERMIT);
		if (i == 0)
			assert_int_equal(d->upper.max_frame, 1600 - RTE_ETHER_CRC_LEN);
		downstream_stop(d);
		downstream_free(d);
		service_group_free(&sg);
	}
}

ALL_TESTS(fixture_start, fixture_stop)
