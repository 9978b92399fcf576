/* SPDX-License-Identifier: BSD-3-Clause */
/* What is proven, lost, duplicated or out of order is counted as just that. */
#include "directions/traffic_parts.h"
#include "test_main.h"
#include "traffic_kit.h"

#define PACKETS 64
#define MIX "84:1,256:1,1280:1,1900:1"

static struct rig_frame frames[PACKETS];

static void assert_nothing_wrong(const struct traffic_result *r) {
	assert_int_equal(r->sent, PACKETS);
	rig_expect(r, (struct rig_wrong){0});
	assert_int_equal(traffic_unexpected(r, NULL), 0);
}

TEST(good_packets_are_proven) {
	struct traffic_result r;

	rig_start(&rig, MIX, 1);
	rig_take(&rig, frames, PACKETS, NULL);
	rig_send_frames(&rig, frames, PACKETS);
	r = rig_finish(&rig);
	assert_nothing_wrong(&r);
	assert_int_equal(r.proven_bytes, r.sent_bytes);
	assert_int_equal(r.sent_by_class[CLASS_PERMIT], PACKETS / 10);
	assert_true(r.latency_us.p50 > 0 && r.latency_us.p50 <= r.latency_us.max);
	assert_true(r.gbps > 0);
}

/* What comes in the place of a packet `a` of a modem, and of the next one of its flow `b`; `d` is `a` damaged. */
static const struct order {
	const char *name, *at_a, *at_b;
	uint32_t first, last; /* modems that it is tried with: the second is not bonded */
	unsigned lost, duplicated, reordered, resequenced, damaged;
} orders[] = {
	{"lost", "", "b", 0, 2, .lost = 1},
	{"twice", "aa", "b", 0, 2, .duplicated = 1},
	{"twice, while the first waits", "", "bba", 0, 0, .duplicated = 1, .resequenced = 1},
	{"twice, once damaged", "a", "bd", 0, 0, .duplicated = 1, .damaged = 1},
	{"swapped, and put in order", "b", "a", 0, 0, .resequenced = 1},
	{"swapped on one channel", "b", "a", 1, 1, .reordered = 1},
};

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

static struct traffic_result in_order(const struct order *o, uint32_t modem) {
	const struct rig_fault nothing = {.modem = modem};
	struct rig_frame damaged;
	unsigned a, b;

	rig_start(&rig, "256", 7);
	a = rig_take(&rig, frames, PACKETS, &nothing);
	b = follower(a);
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

TEST(what_becomes_of_packets_is_counted) {
	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		const struct order *o = &orders[i];

		print_message("  %s\n", o->name);
		for (uint32_t modem = o->first; modem <= o->last; modem++) {
			struct traffic_result r = in_order(o, modem);

			rig_expect(&r, (struct rig_wrong){.lost = o->lost,
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

/* Two packets under one number: a modem delivers the first and discards the second. */
TEST(a_number_used_twice_is_a_wrong_dsid) {
	struct rig_fault fault = {.header = reuse_number};
	struct traffic_result r;

	rig_start(&rig, "256", 9);
	rig_take(&rig, frames, PACKETS, &fault);
	rig_send_frames(&rig, frames, PACKETS);
	r = rig_finish(&rig);
	rig_expect(&r, (struct rig_wrong){.corrupted = 1});
	assert_int_equal(r.corrupted_by[CORRUPTION_DSID], 1);
}

/* The sequence numbers of streams say what is missing; where that and the other counts disagree, the run fails. */
TEST(an_account_that_does_not_close_fails) {
	struct traffic_result r;

	rig_start(&rig, "256", 9);
	rig_take(&rig, frames, PACKETS, NULL);
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
	assert_nothing_wrong(&r);
}

ALL_TESTS(rig_open, rig_close)
