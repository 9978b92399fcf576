/* SPDX-License-Identifier: BSD-3-Clause */
/* The downstream's tables hold what is configured, and nothing else; what a setup takes over; names of refusals. */
#include "test_main.h"

#include <rte_byteorder.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "lookup_kit.h"

#define MODEMS 64
#define CROWD 64 /* addresses: as many as there is capacity for */

static struct ip_address addresses[8][SG_MAX_MODEM_ADDRESSES];

/* Modems with so many of these addresses each. */
static void tables_make(struct ds_tables *t, unsigned count, size_t each,
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

/* More of each family than a table has place for that is made for the other one. */
TEST(room_for_many_addresses) {
	for (uint8_t family = 4; family <= 6; family += 2) {
		struct ds_tables t;

		for (uint8_t m = 0; m < 8; m++) {
			for (uint8_t a = 0; a < SG_MAX_MODEM_ADDRESSES; a++)
				addresses[m][a] = (struct ip_address){family, {family, m, a}};
		}
		tables_make(&t, 8, SG_MAX_MODEM_ADDRESSES, NULL);
		assert_int_equal(rte_hash_count(family == 4 ? t.ipv4 : t.ipv6),
				 8 * SG_MAX_MODEM_ADDRESSES);
		ds_tables_free(&t);
	}
}

/* Addresses whose hashes agree in all bits by which a table finds buckets, both of them: there is capacity for 16. However
 * they fall, all that there is capacity for finds its place: later, nothing can be refused. */
TEST(room_for_a_crowd) {
	const struct group_capacity capacity = {
		.modems = 10, .ipv4 = CROWD, .flows = 20, .channels = 3};
	uint32_t crowd[CROWD];
	struct ds_tables t;
	unsigned count = 0;

	for (uint32_t i = 1; count < CROWD; i++) {
		crowd[count] = rte_cpu_to_be_32(0x0a000000U + i);
		count += (rte_hash_crc_4byte(crowd[count], 0) & 0x00ff00ff) == 0;
	}
	addresses[0][0] = (struct ip_address){.family = 4};
	memcpy(addresses[0][0].bytes, &crowd[0], sizeof(crowd[0]));
	tables_make(&t, 1, 1, &capacity);
	assert_int_equal(t.capacity.modems, 10);
	assert_int_equal(t.flow_count, 20);
	for (uint64_t i = 1; i < CROWD; i++)
		assert_int_equal(rte_hash_add_key_data(t.ipv4, &crowd[i], (void *)i), 0);
	for (uint64_t i = 0; i < CROWD; i++) {
		void *place;

		assert_true(rte_hash_lookup_data(t.ipv4, &crowd[i], &place) >= 0);
		assert_int_equal((uint64_t)place, i);
	}
	ds_tables_free(&t);
}

TEST(refusals_by_name) {
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

static struct downstream *make(struct service_group *sg, const char *options, unsigned modems) {
	static struct clock now;
	static char text[MODEMS * 512];
	size_t used = (size_t)snprintf(text, sizeof(text), head, options);

	for (unsigned i = 0; i < modems; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, modem, i, i, i + 1,
					 i + 1);
	return lookup_downstream(sg, text, &now);
}

/* What the configuration says, and what stands for it where it says nothing. */
TEST(setup) {
	static const struct {
		const char *options;
		unsigned modems;
		uint32_t records; /* of the flow cache */
	} cases[] = {
		{"filter_default: deny\nmax_frame: 1600\n", 1, 4096},
		{"filter_default: permit\n", 33, 4096}, /* 33 * 128, and no more */
		{"", 64, 64 * 128},
		{"flow_cache: 0\n", 33, 0},
		{"flow_cache: 1\n", 1, 1},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct service_group sg;
		struct downstream *d = make(&sg, cases[i].options, cases[i].modems);

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
