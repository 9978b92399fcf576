/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the verdicts on received downstream packets: proven, lost, duplicated, reordered. */
#include "directions/traffic_parts.h"
#include "test_main.h"
#include "traffic_kit.h"

#define PACKETS 64
#define MIX "84:1,256:1,1280:1,1900:1"

static struct rig_frame frames[PACKETS];

static void assert_all_proven(const struct traffic_result *r) {
	assert_int_equal(r->sent, PACKETS);
	rig_assert_result(r, (struct rig_errors){0});
	assert_int_equal(traffic_unexpected(r, NULL), 0);
}

TEST(good_packets_are_proven) {
	struct traffic_result r;

	rig_start(&rig, MIX, 1);
	rig_collect(&rig, frames, PACKETS, NULL);
	rig_send_frames(&rig, frames, PACKETS);
	r = rig_finish(&rig);
	assert_all_proven(&r);
	assert_int_equal(r.proven_bytes, r.sent_bytes);
	assert_int_equal(r.sent_by_class[CLASS_PERMIT], PACKETS / 10);
	assert_true(r.latency_us.p50 > 0 && r.latency_us.p50 <= r.latency_us.max);
	assert_true(r.gbps > 0);
}

/* What is sent instead of packet `a` and the next one of its flow `b`; `d` is a damaged `a`. */
static const struct order_case {
	const char *name, *at_a, *at_b;
	uint32_t first, last; /* modems to test; modem 1 is not bonded */
	unsigned lost, duplicated, reordered, resequenced, damaged;
} cases[] = {
	{"lost", "", "b", 0, 2, .lost = 1},
	{"duplicate", "aa", "b", 0, 2, .duplicated = 1},
	{"duplicate of a buffered packet", "", "bba", 0, 0, .duplicated = 1, .resequenced = 1},
	{"damaged duplicate", "a", "bd", 0, 0, .duplicated = 1, .damaged = 1},
	{"swapped and resequenced", "b", "a", 0, 0, .resequenced = 1},
	{"swapped on one channel", "b", "a", 1, 1, .reordered = 1},
};

/* The index of the next packet of the same modem and flow. */
static unsigned next_of_flow(unsigned victim) {
	for (unsigned i = victim + 1; i < PACKETS; i++) {
		if (frames[i].modem == frames[victim].modem &&
		    frames[i].flow == frames[victim].flow)
			return i;
	}
	fail();
	return 0;
}

static struct traffic_result send_in_order(const struct order_case *o, uint32_t modem) {
	const struct rig_fault nothing = {.modem = modem};
	struct rig_frame damaged;
	unsigned a, b;

	rig_start(&rig, "256", 7);
	a = rig_collect(&rig, frames, PACKETS, &nothing);
	b = next_of_flow(a);
	damaged = frames[a];
	damaged.bytes[damaged.size - 1] ^= 1; /* CRC */
	for (unsigned i = 0; i < PACKETS; i++) {
		if (i != a && i != b)
			rig_send_frame(&rig, &frames[i]);
		for (const char *c = i == a ? o->at_a : i == b ? o->at_b : ""; *c != '\0'; c++)
			rig_send_frame(&rig, *c == 'a'	 ? &frames[a]
					     : *c == 'b' ? &frames[b]
							 : &damaged);
	}
	return rig_finish(&rig);
}

TEST(lost_duplicated_and_reordered_packets_are_counted) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct order_case *o = &cases[i];

		print_message("  %s\n", o->name);
		for (uint32_t modem = o->first; modem <= o->last; modem++) {
			struct traffic_result r = send_in_order(o, modem);

			rig_assert_result(&r, (struct rig_errors){.lost = o->lost,
								  .duplicated = o->duplicated,
								  .reordered = o->reordered});
			assert_int_equal(r.corrupted_by[CORRUPTION_CRC], o->damaged);
			if (o->lost > 0)
				continue;
			assert_int_equal(r.resequenced, o->resequenced);
			assert_int_equal(r.resequencing_deepest, o->resequenced > 0 ? 2 : 0);
			assert_int_equal(r.resequencing_given_up, 0);
		}
	}
}

static void reuse_number(struct docsis_down_header *h) {
	h->sequence = 1;
}

/* If two packets have one DSID number, a modem delivers the first and discards the second. */
TEST(reused_dsid_number_is_corruption) {
	struct rig_fault fault = {.header = reuse_number};
	struct traffic_result r;

	rig_start(&rig, "256", 9);
	rig_collect(&rig, frames, PACKETS, &fault);
	rig_send_frames(&rig, frames, PACKETS);
	r = rig_finish(&rig);
	rig_assert_result(&r, (struct rig_errors){.corrupted = 1});
	assert_int_equal(r.corrupted_by[CORRUPTION_DSID], 1);
}

/* The run fails if the packets missing by sequence numbers differ from those by the counters. */
TEST(unbalanced_account_fails_run) {
	struct traffic_result r;

	rig_start(&rig, "256", 9);
	rig_collect(&rig, frames, PACKETS, NULL);
	rig_send_frames(&rig, frames, PACKETS);
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
	assert_all_proven(&r);
}

ALL_TESTS(rig_open, rig_close)
