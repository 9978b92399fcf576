/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests traffic of two service groups: packets of the other group are unexpected. */
#include <rte_cycles.h>

#include "directions/traffic_parts.h"
#include "fake_uplink.h"
#include "test_main.h"
#include "two_groups.h"
#include "wire/ip.h"

static void check_sums(const struct totals *totals) {
	const struct traffic_result *all = &totals->all_downstream;
	const struct traffic_result *a = &totals->downstream[0], *b = &totals->downstream[1];

	assert_int_equal(all->sent, GROUP_COUNT * TWO_PACKETS);
	assert_int_equal(all->proven, GROUP_COUNT * TWO_PACKETS);
	assert_int_equal(all->proven_bytes, a->proven_bytes + b->proven_bytes);
	assert_int_equal(all->depi_bytes, a->depi_bytes + b->depi_bytes);
	for (int i = 0; i < CLASS_COUNT; i++)
		assert_int_equal(all->sent_by_class[i], a->sent_by_class[i] + b->sent_by_class[i]);
	assert_true(all->seconds == RTE_MAX(a->seconds, b->seconds));
	assert_true(all->configured_bps == 0); /* max */
	assert_int_equal(all->latency->total_count, GROUP_COUNT * TWO_PACKETS);
	assert_true(all->latency_us.max >= RTE_MAX(a->latency_us.max, b->latency_us.max));
	assert_true(all->latency_us.mean >= RTE_MIN(a->latency_us.mean, b->latency_us.mean));
	assert_true(all->latency_us.mean <= RTE_MAX(a->latency_us.mean, b->latency_us.mean));
}

/* Packets of the first group that the CMTS sends to the second. */
enum misdirected {
	NO_PACKETS,
	EVERY_EIGHTH,
	OF_MODEM_1, /* without DSIDs: sequence numbers would conflict */
};

static const struct {
	const char *name;
	struct two_plan plan;
	enum misdirected misdirected;
} cases[] = {
	{"groups with different sessions", {0}, NO_PACKETS},
	{"groups with separate ports",
	 {.separate_ports = true,
	  .same_sessions = true,
	  .same_addresses = true,
	  .same_modems = true},
	 NO_PACKETS},
	{"a packet in another group's session is unexpected", {0}, EVERY_EIGHTH},
	{"tags of groups whose modems have the same addresses and keys",
	 {.separate_ports = true, .same_sessions = true, .same_modems = true},
	 OF_MODEM_1},
};

/* Asserts that `misdirected` packets are lost in the first group, unexpected in the second. */
static void check_misdirected(const struct totals *totals, unsigned misdirected) {
	const struct traffic_result *from = &totals->downstream[0], *to = &totals->downstream[1];

	assert_int_equal(from->sent, TWO_PACKETS);
	assert_int_equal(from->lost, misdirected);
	assert_int_equal(from->proven, TWO_PACKETS - misdirected);
	assert_int_equal(traffic_result_good(from), misdirected == 0);
	assert_int_equal(to->unexpected[UNEXPECTED_OTHER_GROUP], misdirected);
	assert_int_equal(to->proven, TWO_PACKETS);
	assert_int_equal(to->corrupted + to->duplicated + to->reordered, 0);
	assert_int_equal(from->depi_frames, TWO_PACKETS - misdirected);
	assert_int_equal(to->depi_frames, TWO_PACKETS + misdirected);
	assert_true(traffic_result_good(to));
	assert_int_equal(totals->all_downstream.lost, misdirected);
	assert_int_equal(totals->all_downstream.unexpected[UNEXPECTED_OTHER_GROUP], misdirected);
	assert_int_equal(totals_good(totals, &two.groups), misdirected == 0);
}

TEST(groups_prove_only_their_own_packets) {
	static struct rig_frame frames[GROUP_COUNT][TWO_PACKETS];

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		struct totals *totals;
		unsigned count = 0;

		print_message("  %s\n", cases[c].name);
		two_create(cases[c].plan);
		for (unsigned g = 0; g < GROUP_COUNT; g++)
			rig_collect(&two.rigs[g], frames[g], TWO_PACKETS, NULL);
		for (uint16_t i = 0; i < TWO_PACKETS; i++) {
			const struct rig_frame *f = &frames[0][i];
			bool misdirected = cases[c].misdirected == EVERY_EIGHTH ? i % 8 == 7
					   : cases[c].misdirected == OF_MODEM_1 ? f->modem == 1
										: false;

			two_send_frame(misdirected, f, 2 * i + 1);
			two_send_frame(1, &frames[1][i], 2 * i + 1);
			count += misdirected;
		}
		totals = rig_totals(&two.groups);
		assert_int_equal(count > 0, cases[c].misdirected != NO_PACKETS);
		check_misdirected(totals, count);
		if (count == 0)
			check_sums(totals);
		two_free_all(totals);
	}
}

/* Sends an upstream packet of a group to the network port. `source`: source address if not 0. */
static void send_upstream(unsigned group, unsigned source, uint16_t vlan) {
	struct uplink *u = two.groups.all[group]->uplink;
	uint8_t frame[FAKE_FRAME_MAX];
	uint64_t now = rte_rdtsc();
	uint32_t size = fake_uplink_make(u, FAKE_UDP_IPV4, now, now, frame);

	if (source != 0)
		store_be32(frame + ETHERNET_HEADER + 12, source);
	two_send(two.rigs[group].network[1], frame, size, vlan);
}

#define FIRST_MODEM 0x0a000001 /* 10.0.0.1; also the fake's source address */
#define SECOND_MODEM 0x0a000101

TEST(source_address_selects_group) {
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	const struct uplink_result *first, *second;
	struct totals *totals;

	two_create((struct two_plan){.upstream = true, .no_downstream = true});
	send_upstream(0, 0, 0);
	send_upstream(0, SECOND_MODEM, 0); /* unexpected in the second group */
	send_upstream(1, FIRST_MODEM, 0);
	send_upstream(0, 0x0a090909, 0);
	two_send(two.rigs[0].network[1], arp, sizeof(arp), 0);
	send_upstream(0, 0, 5);
	totals = rig_totals(&two.groups);
	first = &totals->upstream[0];
	second = &totals->upstream[1];
	assert_int_equal(first->sent, 4);
	assert_int_equal(first->proven, 1);
	assert_int_equal(first->lost, 3);
	assert_int_equal(first->unexpected[UPLINK_UNEXPECTED_OTHER_GROUP], 1);
	assert_int_equal(second->sent, 1);
	assert_int_equal(second->lost, 1);
	assert_int_equal(second->unexpected[UPLINK_UNEXPECTED_OTHER_GROUP], 1);
	assert_int_equal(first->corrupted + second->corrupted, 0);
	assert_int_equal(totals->all_upstream.unexpected[UPLINK_UNEXPECTED_NO_GROUP], 3);
	assert_int_equal(totals->all_upstream.lost, 4);
	assert_false(totals_good(totals, &two.groups));
	two_free_all(totals);
}

TEST(vlan_selects_group) {
	struct totals *totals;

	two_create((struct two_plan){.upstream = true,
				     .no_downstream = true,
				     .same_addresses = true,
				     .network_vlans = {0, 20}});
	for (int i = 0; i < 3; i++) {
		send_upstream(0, 0, 0);
		send_upstream(1, 0, 20);
	}
	totals = rig_totals(&two.groups);
	assert_true(totals_good(totals, &two.groups));
	assert_int_equal(totals->all_upstream.proven, 6);
	totals_free(totals);
	send_upstream(0, 0, 20); /* VLAN of the second group */
	two_receive();
	totals_create(totals, &two.groups);
	assert_int_equal(totals->upstream[0].lost, 1);
	assert_true(uplink_result_good(&totals->upstream[1]));
	assert_int_equal(totals->upstream[1].unexpected[UPLINK_UNEXPECTED_OTHER_GROUP], 1);
	assert_false(totals_good(totals, &two.groups));
	two_free_all(totals);
}

ALL_TESTS(two_open, two_close)
