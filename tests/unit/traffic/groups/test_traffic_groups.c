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
	assert_true(all->configured_bps == 0); /* max */
	assert_int_equal(all->latency->total_count, TWO * TWO_PACKETS);
	assert_true(all->latency_us.max >= RTE_MAX(a->latency_us.max, b->latency_us.max));
	assert_true(all->latency_us.mean >= RTE_MIN(a->latency_us.mean, b->latency_us.mean));
	assert_true(all->latency_us.mean <= RTE_MAX(a->latency_us.mean, b->latency_us.mean));
}

/* Which packets of the first group the CMTS sends to the second one. */
enum astray {
	NONE,
	EVERY_EIGHTH,
	OF_SECOND_MODEM, /* the only one whose flows have no numbers: others would take the places of packets */
};

static const struct {
	const char *name;
	struct two_plan plan;
	enum astray astray;
} cases[] = {
	{"sessions tell groups apart", {0}, NONE},
	{"groups may have their own ports",
	 {.own_ports = true, .same_sessions = true, .same_addresses = true, .same_modems = true},
	 NONE},
	{"a packet in another group's session is unexpected", {0}, EVERY_EIGHTH},
	{"the tag tells where modems have the same addresses and keys",
	 {.own_ports = true, .same_sessions = true, .same_modems = true},
	 OF_SECOND_MODEM},
};

/* A group whose packets come out at the other one has lost them; the other one has not won any. */
static void astray_check(const struct totals *totals, unsigned astray) {
	const struct traffic_result *from = &totals->downstream[0], *to = &totals->downstream[1];

	assert_int_equal(from->sent, TWO_PACKETS);
	assert_int_equal(from->lost, astray);
	assert_int_equal(from->proven, TWO_PACKETS - astray);
	assert_int_equal(traffic_result_good(from), astray == 0);
	assert_int_equal(to->unexpected[UNEXPECTED_OTHER_GROUP], astray);
	assert_int_equal(to->proven, TWO_PACKETS);
	assert_int_equal(to->corrupted + to->duplicated + to->reordered, 0);
	assert_int_equal(from->depi_frames, TWO_PACKETS - astray);
	assert_int_equal(to->depi_frames, TWO_PACKETS + astray);
	assert_true(traffic_result_good(to));
	assert_int_equal(totals->all_downstream.lost, astray);
	assert_int_equal(totals->all_downstream.unexpected[UNEXPECTED_OTHER_GROUP], astray);
	assert_int_equal(totals_good(totals, &two.groups), astray == 0);
}

TEST(groups_prove_their_own_packets) {
	static struct rig_frame frames[TWO][TWO_PACKETS];

	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		struct totals *totals;
		unsigned count = 0;

		print_message("  %s\n", cases[c].name);
		two_begin(cases[c].plan);
		for (unsigned g = 0; g < TWO; g++)
			rig_take(&two.rigs[g], frames[g], TWO_PACKETS, NULL);
		for (uint16_t i = 0; i < TWO_PACKETS; i++) {
			const struct rig_frame *f = &frames[0][i];
			bool astray = cases[c].astray == EVERY_EIGHTH	   ? i % 8 == 7
				      : cases[c].astray == OF_SECOND_MODEM ? f->modem == 1
									   : false;

			two_send_frame(astray, f, 2 * i + 1);
			two_send_frame(1, &frames[1][i], 2 * i + 1);
			count += astray;
		}
		totals = rig_totals(&two.groups);
		assert_int_equal(count > 0, cases[c].astray != NONE);
		astray_check(totals, count);
		if (count == 0)
			check_sums(totals);
		two_finish(totals);
	}
}

/* The network side: a frame of a modem of `of`, with the source address `source` where that is not 0. */
static void upstream_send(unsigned of, unsigned source, uint16_t vlan) {
	struct uplink *u = two.groups.all[of]->uplink;
	uint8_t frame[FAKE_FRAME_MAX];
	uint64_t now = rte_rdtsc();
	uint32_t size = fake_uplink_make(u, FAKE_UDP_IPV4, now, now, frame);

	if (source != 0)
		store_be32(frame + ETHERNET_HEADER + 12, source);
	two_send(two.rigs[of].network[1], frame, size, vlan);
}

#define FIRST_MODEM 0x0a000001 /* 10.0.0.1: also the fake's own */
#define SECOND_MODEM 0x0a000101

TEST(source_addresses_tell_groups_apart) {
	static const uint8_t arp[60] = {[12] = 0x08, [13] = 0x06};
	const struct uplink_result *first, *second;
	struct totals *totals;

	two_begin((struct two_plan){.upstream = true, .no_downstream = true});
	upstream_send(0, 0, 0);
	upstream_send(0, SECOND_MODEM, 0); /* comes to the second group, which has not sent it */
	upstream_send(1, FIRST_MODEM, 0);
	upstream_send(0, 0x0a090909, 0);
	two_send(two.rigs[0].network[1], arp, sizeof(arp), 0);
	upstream_send(0, 0, 5);
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
	two_finish(totals);
}

TEST(upstream_vlans_are_the_groups) {
	struct totals *totals;

	two_begin((struct two_plan){.upstream = true,
				    .no_downstream = true,
				    .same_addresses = true,
				    .network_vlans = {0, 20}});
	for (int i = 0; i < 3; i++) {
		upstream_send(0, 0, 0);
		upstream_send(1, 0, 20);
	}
	totals = rig_totals(&two.groups);
	assert_true(totals_good(totals, &two.groups));
	assert_int_equal(totals->all_upstream.proven, 6);
	totals_free(totals);
	upstream_send(0, 0, 20); /* swapped */
	two_receive();
	totals_create(totals, &two.groups);
	assert_int_equal(totals->upstream[0].lost, 1);
	assert_true(uplink_result_good(&totals->upstream[1]));
	assert_int_equal(totals->upstream[1].unexpected[UPLINK_UNEXPECTED_OTHER_GROUP], 1);
	assert_false(totals_good(totals, &two.groups));
	two_finish(totals);
}

ALL_TESTS(two_open, two_close)
