/* SPDX-License-Identifier: BSD-3-Clause */
/* Several service groups: each proves its own packets, whatever the CMTS does with those of the others. */
#include <rte_cycles.h>

#include "directions/traffic_parts.h"
#include "fake_uplink.h"
#include "test_main.h"
#include "two_groups.h"
#include "wire/ip.h"

static void check_sums(const struct totals *totals) {
	const struct traffic_result *all = &totals->all_downstream;
	const struct traffic_result *a = &totals->downstream[0], *b = &totals->downstream[1];

	assert_int_equal(all->sent, TWO * TWO_PACKETS);
	assert_int_equal(all->proven, TWO * TWO_PACKETS);
	assert_int_equal(all->proven_bytes, a->proven_bytes + b->proven_bytes);
	assert_int_equal(all->depi_bytes, a->depi_bytes + b->depi_bytes);
	for (int i = 0; i < CLASS_COUNT; i++)
		assert_int_equal(all->sent_by_class[i], a->sent_by_class[i] + b->sent_by_class[i]);
	assert_true(all->seconds == RTE_MAX(a->seconds, b->seconds));
	assert_true(all->asked_bps == 0); /* max */
	assert_int_equal(all->latency->total_count, TWO * TWO_PACKETS);
	assert_true(all->latency_us.max >= RTE_MAX(a->latency_us.max, b->latency_us.max));
	assert_true(all->latency_us.mean >= RTE_MIN(a->latency_us.mean, b->latency_us.mean));
	assert_true(all->latency_us.mean <= RTE_MAX(a->latency_us.mean, b->latency_us.mean));
}

/* In turn, so that each burst holds frames of both: the order of each is kept. */
static void packets_are_proven(struct two_plan plan) {
	struct totals *totals;

	two_begin(&two, plan);
	two_take(&two);
	for (unsigned i = 0; i < TWO_PACKETS; i++) {
		for (unsigned g = 0; g < TWO; g++)
			two_send_frame(&two, g, &two.frames[g][i], plan.rphy_vlans[g]);
	}
	totals = two_results(&two);
	for (unsigned g = 0; g < TWO; g++) {
		assert_int_equal(totals->downstream[g].sent, TWO_PACKETS);
		assert_int_equal(totals->downstream[g].proven, TWO_PACKETS);
		assert_int_equal(totals->downstream[g].depi_frames, TWO_PACKETS);
		assert_true(traffic_result_good(&totals->downstream[g]));
	}
	check_sums(totals);
	assert_true(totals_good(totals, &two.groups));
	two_finish(&two, totals);
}

TEST(groups_are_told_apart_by_session) {
	packets_are_proven((struct two_plan){0});
}

TEST(groups_may_have_their_own_ports) {
	packets_are_proven((struct two_plan){.own_ports = true,
					     .same_sessions = true,
					     .same_addresses = true,
					     .same_modems = true});
}

/* A group whose packets come out at the other one has lost them; the other one has not won any. */
static void check_astray(const struct totals *totals, unsigned lost) {
	const struct traffic_result *from = &totals->downstream[0], *to = &totals->downstream[1];

	assert_int_equal(from->lost, lost);
	assert_int_equal(from->proven, TWO_PACKETS - lost);
	assert_false(traffic_result_good(from));
	assert_int_equal(to->unexpected[UNEXPECTED_OTHER_GROUP], lost);
	assert_int_equal(to->proven, TWO_PACKETS);
	assert_int_equal(to->corrupted + to->duplicated + to->reordered, 0);
	assert_true(traffic_result_good(to));
	assert_int_equal(totals->all_downstream.lost, lost);
	assert_int_equal(totals->all_downstream.unexpected[UNEXPECTED_OTHER_GROUP], lost);
	assert_false(totals_good(totals, &two.groups));
}

/* A CMTS that puts every eighth packet of the first group into a session of the second. */
TEST(a_packet_in_another_groups_session_is_unexpected) {
	struct totals *totals;

	two_begin(&two, (struct two_plan){0});
	two_take(&two);
	for (unsigned i = 0; i < TWO_PACKETS; i++) {
		two_send_frame(&two, i % 8 == 7, &two.frames[0][i], 0);
		two_send_frame(&two, 1, &two.frames[1][i], 0);
	}
	totals = two_results(&two);
	check_astray(totals, TWO_PACKETS / 8);
	two_finish(&two, totals);
}

/* The same where the modems have the same addresses and keys: the packets' tags tell. Those that are
 * numbered would take the places of others, so the one modem without encryption, whose flow has numbers,
 * and the one without are tried by themselves. */
TEST(the_tag_tells_where_modems_are_alike) {
	unsigned swapped = 0;
	struct totals *totals;

	two_begin(&two,
		  (struct two_plan){.own_ports = true, .same_sessions = true, .same_modems = true});
	two_take(&two);
	for (unsigned i = 0; i < TWO_PACKETS; i++) {
		bool swap = two.frames[0][i].modem == 1; /* has no DSIDs */

		two_send_frame(&two, swap, &two.frames[0][i], 0);
		two_send_frame(&two, 1, &two.frames[1][i], 0);
		swapped += swap;
	}
	assert_true(swapped > 0);
	totals = two_results(&two);
	check_astray(totals, swapped);
	two_finish(&two, totals);
}

/* The network side: a frame of a modem of `of`, with the source address `source` where that is not 0. */
static void upstream_send(unsigned of, unsigned source, uint16_t vlan) {
	struct uplink *u = two.groups.all[of]->uplink;
	uint8_t frame[FAKE_FRAME_MAX];
	uint64_t now = rte_rdtsc();
	uint32_t size = fake_uplink_make(u, FAKE_UDP_IPV4, now, now, frame);

	if (source != 0)
		store_be32(frame + ETHERNET_HEADER + 12, source);
	two_send(&two, two.rigs[of].network[1], frame, size, vlan);
}

#define FIRST_MODEM 0x0a000001 /* 10.0.0.1: also the fake's own */
#define SECOND_MODEM 0x0a000101

TEST(source_addresses_tell_groups_apart) {
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	const struct uplink_result *first, *second;
	struct totals *totals;

	two_begin(&two, (struct two_plan){.upstream = true, .no_downstream = true});
	upstream_send(0, 0, 0);
	upstream_send(0, SECOND_MODEM, 0); /* comes to the second group, which has not sent it */
	upstream_send(1, FIRST_MODEM, 0);
	upstream_send(0, 0x0a090909, 0);
	two_send(&two, two.rigs[0].network[1], arp, sizeof(arp), 0);
	upstream_send(0, 0, 5);
	totals = two_results(&two);
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
	two_finish(&two, totals);
}

TEST(upstream_vlans_are_the_groups) {
	struct totals *totals;

	two_begin(&two, (struct two_plan){.upstream = true,
					  .no_downstream = true,
					  .same_addresses = true,
					  .network_vlans = {0, 20}});
	for (int i = 0; i < 3; i++) {
		upstream_send(0, 0, 0);
		upstream_send(1, 0, 20);
	}
	totals = two_results(&two);
	assert_true(totals_good(totals, &two.groups));
	assert_int_equal(totals->all_upstream.proven, 6);
	totals_free(totals);
	upstream_send(0, 0, 20); /* swapped */
	two_receive(&two);
	totals_create(totals, &two.groups);
	assert_int_equal(totals->upstream[0].lost, 1);
	assert_true(uplink_result_good(&totals->upstream[1]));
	assert_int_equal(totals->upstream[1].unexpected[UPLINK_UNEXPECTED_OTHER_GROUP], 1);
	assert_false(totals_good(totals, &two.groups));
	two_finish(&two, totals);
}

ALL_TESTS(two_open, two_close)
