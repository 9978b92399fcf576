/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests shared ports: VLAN tags, unmatched frames, indistinguishable groups; division of rates. */
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "core/vlan_tag.h"
#include "groups/rates.h"
#include "test_main.h"
#include "two_groups.h"
#include "wire/ip.h"

TEST(unmatched_frames_are_counted) {
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	static const uint8_t broadcast_arp[60] = {0xff, 0xff, 0xff,	   0xff,
						  0xff, 0xff, [12] = 0x08, [13] = 0x06};
	struct traffic_result *all;
	struct uplink_result *up;
	uint8_t depi[RIG_MTU + 14];
	struct totals *totals;
	size_t size;

	two_create((struct two_plan){.upstream = true});
	size = rig_build_depi(&two.rigs[0], 0, NULL, 0, depi);
	two_send(rig.rphy[1], broadcast_arp, sizeof(arp), 0);
	two_send(rig.rphy[1], broadcast_arp, sizeof(arp), 99);
	two_send(rig.network[1], broadcast_arp, sizeof(arp), 0);
	two_send(rig.network[1], arp, sizeof(arp), 0);
	two_send(rig.rphy[1], arp, sizeof(arp), 0);
	two_send(rig.rphy[1], depi, size, 99); /* a VLAN of no group */
	totals = rig_totals(&two.groups);
	all = &totals->all_downstream;
	assert_false(totals_good(totals, &two.groups));
	assert_int_equal(traffic_unexpected(all, NULL), 2);
	assert_int_equal(all->unexpected[UNEXPECTED_NOT_DEPI], 1);
	assert_int_equal(all->unexpected[UNEXPECTED_NO_GROUP], 1);
	assert_int_equal(all->unexpected[UNEXPECTED_LINK], 2);
	assert_int_equal(all->depi_frames, 4);
	up = &totals->all_upstream;
	assert_int_equal(traffic_unexpected(NULL, up), 1);
	assert_int_equal(up->unexpected[UPLINK_UNEXPECTED_NO_GROUP], 1);
	assert_int_equal(up->unexpected[UPLINK_UNEXPECTED_LINK], 1);
	totals_free(totals);
	depi[34 + 1] ^= 0x80; /* session */
	two_send(rig.rphy[1], depi, size, 0);
	depi[14 + 10] ^= 1; /* IPv4 checksum */
	two_send(rig.rphy[1], depi, size, 0);
	two_receive();
	totals_create(totals, &two.groups);
	assert_int_equal(all->violations[VIOLATION_SESSION], 1);
	assert_int_equal(all->violations[VIOLATION_IP], 1);
	assert_false(totals_good(totals, &two.groups)); /* as with one group */
	two_free_all(totals);
}

static uint64_t sum_of_reasons(const struct shared_port_unmatched *s) {
	uint64_t sum = 0;

	for (int i = 0; i < UNEXPECTEDS; i++)
		sum += s->unexpected[i];
	for (int i = 0; i < VIOLATIONS; i++)
		sum += s->violations[i];
	return sum;
}

TEST(truncated_frames_are_unmatched) {
	uint8_t depi[RIG_MTU + 14];
	const struct shared_port_unmatched *rphy, *network;
	struct totals *totals;
	size_t size;

	two_create((struct two_plan){.upstream = true});
	rphy = &two.groups.shares[0]->unmatched;
	network = &two.groups.shares[1]->unmatched;
	memset(depi, 0, sizeof(depi));
	size = rig_build_depi(&two.rigs[0], 0,
			      &(struct rig_segment){depi + RIG_MTU - 100, 100, true, true}, 1,
			      depi);
	for (size_t n = 1; n < size; n++) {
		two_send(rig.rphy[1], depi, n, 0);
		two_send(rig.rphy[1], depi, n, 5);
		two_send(rig.network[1], depi, n, 0);
		two_receive();
		assert_int_equal(rphy->frames, 2 * n);
		assert_int_equal(sum_of_reasons(rphy), 2 * n);
		assert_int_equal(network->frames, n);
	}
	totals = rig_totals(&two.groups);
	assert_int_equal(totals->downstream[0].depi_frames, 0);
	assert_int_equal(totals->all_downstream.depi_frames, 2 * (size - 1));
	two_free_all(totals);
}

TEST(each_group_sends_with_its_vlan) {
	struct two_plan plan = {
		.same_sessions = true,
		.same_addresses = true,
		.network_vlans = {10, 4094},
		.rphy_vlans = {30, 31},
	};
	struct rte_mbuf *packets[32];
	struct totals *totals;

	two_create(plan);
	for (unsigned g = 0; g < GROUP_COUNT; g++) {
		assert_int_equal(traffic_send(two.groups.all[g], rte_rdtsc()), 32);
		assert_int_equal(rte_eth_rx_burst(two.rigs[g].network[1], 0, packets, 32), 32);
		for (unsigned i = 0; i < 32; i++) {
			struct frame_fields fields;

			assert_int_equal(packets[i]->data_len, 256 + VLAN_TAG_SIZE);
			assert_true(vlan_has_tag(packets[i]));
			assert_int_equal(vlan_tag_remove(packets[i]), plan.network_vlans[g]);
			assert_int_equal(frame_parse(rte_pktmbuf_mtod(packets[i], uint8_t *),
						     packets[i]->data_len, &fields),
					 FRAME_GOOD);
		}
		rte_pktmbuf_free_bulk(packets, 32);
	}
	totals = rig_totals(&two.groups);
	assert_int_equal(totals->all_downstream.lost, 64);
	two_free_all(totals);
}

TEST(unsent_tagged_packets_are_taken_back) {
	struct two_plan plan = {.network_vlans = {10, 11}, .rphy_vlans = {30, 31}};
	struct rte_mbuf *packets[32];
	struct totals *totals;
	unsigned n;

	two_create(plan);
	do
		n = traffic_send(two.groups.all[0], rte_rdtsc());
	while (n == 32);
	assert_true(traffic_send(two.groups.all[0], rte_rdtsc()) == 0);
	totals = rig_totals(&two.groups);
	assert_int_equal(totals->downstream[0].sent_bytes, 256 * totals->downstream[0].sent);
	assert_true(totals->downstream[0].transmit_backpressure > 0);
	while ((n = rte_eth_rx_burst(rig.network[1], 0, packets, 32)) > 0)
		rte_pktmbuf_free_bulk(packets, n);
	two_free_all(totals);
}

TEST(indistinguishable_groups_are_rejected) {
	static const struct two_plan plans[] = {
		{.same_sessions = true},
		{.same_addresses = true, .upstream = true},
		{.same_sessions = true, .rphy_vlans = {7, 7}, .network_vlans = {1, 2}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(plans); i++) {
		two_try_create(&plans[i]);
		assert_int_equal(two.created, -1);
		two_free();
	}
}

#define GROUPS_MAX 8

TEST(rates_are_divided_by_weight) {
	static const struct {
		uint64_t rate;
		unsigned count;
		uint64_t weights[GROUPS_MAX], parts[GROUPS_MAX];
	} cases[] = {
		{4000000000, 1, {123}, {4000000000}},
		{4000000000, 4, {9, 9, 9, 9}, {1000000000, 1000000000, 1000000000, 1000000000}},
		{100, 3, {1, 1, 2}, {25, 25, 50}},
		{100, 3, {5, 0, 5}, {50, 0, 50}},
		{10, 3, {1, 1, 1}, {3, 3, 4}},
		{0, 2, {1, 2}, {0, 0}},
		{1000000000000,
		 2,
		 {1000000000000000000, 3000000000000000000},
		 {250000000000, 750000000000}},
		{6, 2, {0, 0}, {3, 3}},
		/* a share never rounds to 0, which would mean no limit */
		{1, 3, {1, 1, 0}, {1, 1, 0}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		uint64_t parts[GROUPS_MAX];

		rates_divide(cases[i].rate, cases[i].weights, cases[i].count, parts);
		assert_memory_equal(parts, cases[i].parts, cases[i].count * sizeof(parts[0]));
	}
}

ALL_TESTS(two_open, two_close)
