/* SPDX-License-Identifier: BSD-3-Clause */
/* What is proven, lost, duplicated or out of order is counted as just that. */
#include "directions/traffic_parts.h"
#include "test_main.h"
#include "traffic_group.h"

#define PACKETS 64
#define MIX "84:1,256:1,1280:1,1900:1"

static struct rig_frame frames[PACKETS];

static void send_all(void) {
	for (unsigned i = 0; i < PACKETS; i++)
		rig_send_frame(&rig, &frames[i]);
}

static void assert_nothing_wrong(const struct traffic_result *r) {
	assert_int_equal(r->sent, PACKETS);
	assert_int_equal(r->proven, PACKETS);
	assert_true(traffic_result_good(r));
	for (int i = 0; i < UNEXPECTEDS; i++)
		assert_int_equal(r->unexpected[i], 0);
}

TEST(good_packets_are_proven) {
	struct traffic_result r;

	rig_start(&rig, MIX, 1);
	rig_take(&rig, frames, PACKETS, NULL);
	send_all();
	r = rig_finish(&rig);
	assert_nothing_wrong(&r);
	assert_int_equal(r.proven_bytes, r.sent_bytes);
	assert_int_equal(r.sent_by_class[CLASS_PERMIT], PACKETS / 10);
	assert_true(r.latency_us.p50 > 0 && r.latency_us.p50 <= r.latency_us.max);
	assert_true(r.gbps > 0);
}

/* Frames in the rig's order, with one of modem and flow to do something with. */
static unsigned start_with_victim(uint32_t modem, uint32_t flow) {
	struct rig_fault nothing = {.modem = modem, .flow = flow};

	rig_start(&rig, "256", 7);
	return rig_take(&rig, frames, PACKETS, &nothing);
}

/* The next packet of the same modem and flow. */
static unsigned follower(unsigned victim) {
	for (unsigned i = victim + 1; i < PACKETS; i++) {
		if (frames[i].modem == frames[victim].modem &&
		    frames[i].flow == frames[victim].flow)
			return i;
	}
	fail();
	return 0;
}

TEST(lost_packets_are_counted) {
	static const uint32_t modems[] = {0, 1, 2};

	for (size_t m = 0; m < ARRAY_COUNT(modems); m++) {
		unsigned victim = start_with_victim(modems[m], 0);
		struct traffic_result r;

		for (unsigned i = 0; i < PACKETS; i++) {
			if (i != victim)
				rig_send_frame(&rig, &frames[i]);
		}
		r = rig_finish(&rig);
		assert_int_equal(r.proven, PACKETS - 1);
		assert_int_equal(r.lost, 1);
		assert_int_equal(r.corrupted + r.duplicated + r.reordered, 0);
		assert_false(traffic_result_good(&r));
	}
}

TEST(everything_lost_is_lost) {
	struct traffic_result r;

	rig_start(&rig, MIX, 3);
	rig_take(&rig, frames, PACKETS, NULL);
	r = rig_finish(&rig);
	assert_int_equal(r.lost, PACKETS);
	assert_int_equal(r.proven, 0);
}

TEST(duplicates_are_counted) {
	for (uint32_t modem = 0; modem < RIG_MODEMS; modem++) {
		unsigned victim = start_with_victim(modem, 0);
		struct traffic_result r;

		for (unsigned i = 0; i < PACKETS; i++) {
			rig_send_frame(&rig, &frames[i]);
			if (i == victim)
				rig_send_frame(&rig, &frames[i]);
		}
		r = rig_finish(&rig);
		assert_int_equal(r.proven, PACKETS);
		assert_int_equal(r.duplicated, 1);
		assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
		assert_false(traffic_result_good(&r));
	}
}

/* The second copy comes while the first still waits for an earlier packet. */
TEST(duplicates_of_waiting_packets_are_counted) {
	unsigned victim = start_with_victim(0, 0);
	unsigned next = follower(victim);
	struct traffic_result r;

	for (unsigned i = 0; i < PACKETS; i++) {
		if (i != victim)
			rig_send_frame(&rig, &frames[i]);
		if (i == next) {
			rig_send_frame(&rig, &frames[next]);
			rig_send_frame(&rig, &frames[victim]);
		}
	}
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS);
	assert_int_equal(r.duplicated, 1);
	assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
}

static void crc_bit(struct rig_frame *f) {
	f->bytes[f->size - 1] ^= 1;
}

/* A copy that is damaged is no packet that was sent. */
TEST(damaged_duplicates_are_duplicates) {
	unsigned victim = start_with_victim(0, 0);
	struct traffic_result r;

	send_all();
	crc_bit(&frames[victim]);
	rig_send_frame(&rig, &frames[victim]);
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS);
	assert_int_equal(r.duplicated, 1);
	assert_int_equal(r.corrupted_by[CORRUPTION_CRC], 1);
	assert_int_equal(r.lost + r.corrupted + r.reordered, 0);
	assert_false(traffic_result_good(&r));
}

static void send_swapped(unsigned a, unsigned b) {
	for (unsigned i = 0; i < PACKETS; i++)
		rig_send_frame(&rig, &frames[i == a ? b : i == b ? a : i]);
}

TEST(bonded_packets_are_resequenced) {
	unsigned victim = start_with_victim(0, 0);
	struct traffic_result r;

	send_swapped(victim, follower(victim));
	r = rig_finish(&rig);
	assert_nothing_wrong(&r);
	assert_int_equal(r.resequenced, 1);
	assert_int_equal(r.resequencing_deepest, 2);
	assert_int_equal(r.resequencing_given_up, 0);
}

TEST(swapped_packets_of_one_channel_are_reordered) {
	unsigned victim = start_with_victim(1, 0);
	struct traffic_result r;

	send_swapped(victim, follower(victim));
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS);
	assert_int_equal(r.reordered, 1);
	assert_int_equal(r.lost + r.corrupted + r.duplicated, 0);
	assert_false(traffic_result_good(&r));
}

static uint16_t reused_number;

static void reuse_number(struct docsis_down_header *h) {
	h->sequence = reused_number;
}

/* Two packets under one number: a modem delivers the first and discards the second. */
TEST(a_number_used_twice_is_a_wrong_dsid) {
	struct rig_fault fault = {.header = reuse_number};
	struct traffic_result r;

	reused_number = 1;
	rig_start(&rig, "256", 9);
	rig_take(&rig, frames, PACKETS, &fault);
	send_all();
	r = rig_finish(&rig);
	assert_int_equal(r.proven, PACKETS - 1);
	assert_int_equal(r.corrupted, 1);
	assert_int_equal(r.corrupted_by[CORRUPTION_DSID], 1);
	assert_int_equal(r.lost + r.duplicated + r.reordered, 0);
}

/* The sequence numbers of streams say what is missing; where that and the other counts disagree, the run fails. */
TEST(an_account_that_does_not_close_fails) {
	struct traffic_result r;

	rig_start(&rig, "256", 9);
	rig_take(&rig, frames, PACKETS, NULL);
	send_all();
	traffic_result(rig.traffic, &r);
	assert_true(traffic_result_good(&r));
	rig.traffic->downlink->account.proof.proven--;
	traffic_result(rig.traffic, &r);
	assert_int_equal(r.unaccounted, 1);
	assert_int_equal(r.lost, 0);
	assert_false(traffic_result_good(&r));
	rig.traffic->downlink->account.proof.proven += 2;
	traffic_result(rig.traffic, &r);
	assert_int_equal(r.unaccounted, -1);
	assert_false(traffic_result_good(&r));
	rig.traffic->downlink->account.proof.proven--;
	rig.traffic->downlink->generator->packets++;
	traffic_result(rig.traffic, &r);
	assert_int_equal(r.unaccounted, 1);
	rig.traffic->downlink->generator->packets--;
	r = rig_finish(&rig);
	assert_nothing_wrong(&r);
}

ALL_TESTS(open_rig, close_rig)
