/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream of a server that changes. */
#include "follow_up_group.h"
#include "test_main.h"
#include "wire/segment.h"

TEST(a_modem_comes) {
	struct uplink_result r;
	size_t before;

	start(5);
	copy_made(NONE); /* under way while it comes */
	rig.sg.modem_count = 6;
	before = rig.came.burst_count;
	assert_int_equal(bursts_of(0x60, 0), 0);
	learn();
	rounds(4 * ROUNDS);
	assert_true(bursts_of(0x60, before) > 0);
	copies_come();
	r = finish();
	assert_all_came(&r);
}

/* A CMTS would take numbers that begin again for duplicates. */
TEST(segment_numbers_go_on) {
	static struct ip_address others[] = {{4, {10, 9, 0, 1}}, {4, {10, 9, 0, 2}}};
	struct segment_header h;
	uint16_t number = 0;

	start(6);
	for (size_t count = 1; count <= 2; count++) {
		copy_made(NONE);
		rig.sg.modems[5].addresses = others;
		rig.sg.modems[5].address_count = count;
		learn();
		rounds(4 * ROUNDS);
	}
	for (size_t i = 0; i < rig.came.burst_count; i++) {
		const struct rig_burst *b = rig.came.bursts[i];

		if (b->header.sid != 0x30 || b->kind != RIG_DATA)
			continue;
		assert_int_equal(segment_header_parse(b->payload, b->size, &h), SEGMENT_OK);
		assert_int_equal(h.sequence, number++);
	}
	assert_true(number > 8 * ROUNDS);
	finish();
}

/* Stream 6 is the last modem's: what it sends is dropped from the change on. */
TEST(what_a_removed_modem_sends_is_told) {
	struct uplink_result r;
	size_t before;
	uint32_t made;

	start(6);
	copy_made(NONE);
	made = uplink_made(rig.uplink, 6);
	assert_true(made > 0);
	rig.sg.modem_count = 5;
	rounds(4 * ROUNDS);
	copy_made(6);
	learn();
	copy_made(6);
	rounds(2 * ROUNDS); /* bursts that were packed before have gone */
	before = rig.came.burst_count;
	rounds(4 * ROUNDS);
	assert_int_equal(bursts_of(0x60, before), 0);
	assert_true(bursts_of(0x30, before) > 0);
	r = finish();
	assert_true(r.overtaken > 0);
	assert_int_equal(r.overtaken, next[6] - made);
	assert_int_equal(r.lost, 0);
	assert_true(uplink_result_good(&r));
}

/* A modem that stays loses a packet in the same time. */
TEST(losses_of_others_are_losses) {
	struct uplink_result r;

	start(6);
	rig.sg.modem_count = 5;
	rounds(ROUNDS);
	copy_made(NONE);
	copies[0] = copies[--copied];
	learn();
	r = finish();
	assert_int_equal(r.lost, 1);
	assert_false(uplink_result_good(&r));
}

/* In the middle of a round nothing is taken from under its grants. */
TEST(a_round_is_ended_first) {
	struct uplink_result r;

	start(6);
	rounds(1);
	copy_made(NONE);
	copies_come();
	rig.sg.modem_count = 5;
	assert_true(follow_group_differs(&follow, &rig.sg));
	assert_true(follow_group_offer(&follow, rte_rdtsc()));
	assert_int_equal(rig.uplink->grant_count, 0);
	rig.uplink->grant_count = 1;
	traffic_change_round(&traffic, rte_rdtsc());
	assert_false(traffic_took(&traffic));
	rig.uplink->grant_count = 0;
	traffic_change_round(&traffic, rte_rdtsc());
	assert_true(traffic_took(&traffic));
	r = finish();
	assert_int_equal(r.lost, 0);
}

/* A modem whose addresses no packet fits sends nothing, and takes no other down. */
TEST(a_modem_without_room_for_packets_is_silent) {
	static struct ip_address narrow[] = {{4, {10, 0, 0, 9}}};
	static struct ip_address wide[] = {{6, {0x20, 1, [15] = 9}}};
	struct uplink_result r;
	size_t before;

	rig.sg.modems[2].addresses = narrow;
	start_with(6, "70");
	copy_made(NONE);
	copies_come();
	rig.sg.modems[2].addresses = wide;
	learn();
	rounds(2 * ROUNDS);
	before = rig.came.burst_count;
	rounds(4 * ROUNDS);
	assert_int_equal(bursts_of(0x30, before), 0);
	assert_true(bursts_of(0x60, before) > 0);
	/* What it had made when it was asked for the last time. */
	r = finish_but(4);
	assert_int_equal(r.lost, 0);
	assert_true(uplink_result_good(&r));
}

EACH_TEST(uplink_rig_begin, uplink_rig_end)
ALL_TESTS(uplink_rig_open, uplink_rig_close)
