/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: WRED against its formulas. */
#include "test_main.h"

#include <math.h>

#include "scheduler_kit.h"

#define PACKET 1000

/* On a channel that takes a packet of PACKET bytes within 80 ns. */
static struct kit one_flow(struct scheduler_flow f, uint32_t packet_limit) {
	return kit_one_flow(f, KIT_BPS(100000), packet_limit);
}

static struct scheduler_flow wred_flow(uint32_t min, uint32_t max, uint32_t probability,
				       uint8_t weight) {
	return (struct scheduler_flow){
		.aqm = SCHEDULER_WRED,
		.wred = {min, max, probability, weight},
	};
}

/* Sends the oldest packet, with the others left to wait. */
static void send_one(struct kit *k) {
	k->now += 200;
	assert_int_equal(kit_take(k, 1), 1);
}

/* The average as it is written: it moves at each arrival. */
struct average {
	double bytes, part;
};

static double average_move(struct average *a, uint64_t queue) {
	return a->bytes += ((double)queue - a->bytes) * a->part;
}

/* Fills the queue to `packets` and keeps it so, until the average has come to it, too. */
static void settle(struct kit *k, uint32_t packets, uint8_t weight) {
	for (uint32_t i = 0; i < 20u << weight || k->inside != packets; i++) {
		kit_put(k, 0, PACKET);
		if (k->inside > packets)
			send_one(k);
	}
}

/*
 * A queue that stays at `packets`: what part of the arrivals is dropped, and how far apart? Spread
 * by the count since the last drop, gaps are equally likely from 1 to 1/p: p * 2 / (1 + p) are
 * dropped.
 */
static void expect_drops(uint32_t packets, double p) {
	struct kit k = one_flow(wred_flow(100 * PACKET, 300 * PACKET, 6554, 4), 1000);
	uint32_t arrivals = 400000, drops = 0, gap = 0, longest = 0;

	settle(&k, packets, 4);
	for (uint32_t i = 0; i < arrivals; i++) {
		gap++;
		if (kit_put(&k, 0, PACKET) == SCHEDULER_QUEUED) {
			send_one(&k);
			continue;
		}
		longest = drops++ > 0 && gap > longest ? gap : longest;
		gap = 0;
	}
	kit_expect("drops at packets:", packets, drops, arrivals * 2 * p / (1 + p), 0.03);
	if (longest > 1 / p + 2)
		fail_msg("%u packets without a drop where 1 in %.0f is dropped", longest, 1 / p);
	kit_end(&k);
}

/* max_probability is 0.1, the thresholds are 100 and 300 packets. */
TEST(wred_probability_is_linear) {
	expect_drops(120, 0.01);
	expect_drops(150, 0.025);
	expect_drops(200, 0.05);
	expect_drops(250, 0.075);
	expect_drops(290, 0.095);
}

TEST(wred_outside_of_its_thresholds) {
	struct kit k = one_flow(wred_flow(100 * PACKET, 300 * PACKET, 65536, 4), 1000);

	for (int i = 0; i < 10000; i++) {
		assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_QUEUED);
		if (k.inside > 99)
			send_one(&k);
	}
	kit_end(&k);

	/* a queue of 400 packets, whose average lags behind, is cut off when that comes to 300 */
	k = one_flow(wred_flow(300 * PACKET - 1, 300 * PACKET, 1, 7), 1000);
	for (int i = 0; k.inside < 400 && i < 10000; i++)
		kit_put(&k, 0, PACKET);
	assert_true(k.inside == 400);
	while (kit_put(&k, 0, PACKET) == SCHEDULER_QUEUED)
		send_one(&k);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_WRED_DROP);
	kit_end(&k);
}

/* The arrival at which the average passes a threshold, for each weight, with a queue that grows. */
TEST(wred_average_moves_as_written) {
	for (uint8_t weight = 1; weight <= 12; weight++) {
		struct kit k = one_flow(wred_flow(50 * PACKET, 50 * PACKET + 1, 1, weight), 20000);
		struct average a = {0, ldexp(1, -weight)};
		uint64_t arrivals = 0;

		while (average_move(&a, k.inside * PACKET) < 50 * PACKET + 1) {
			assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_QUEUED);
			arrivals++;
		}
		assert_true(arrivals > 49);
		assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_WRED_DROP);
		kit_end(&k);
	}
}

/* Fills the queue until packets are dropped, and on until the average is that of the queue. */
static void exceed(struct kit *k, struct average *a) {
	do {
		average_move(a, k->inside * PACKET);
	} while (kit_put(k, 0, PACKET) == SCHEDULER_QUEUED);
	for (int i = 0; i < 300; i++) {
		average_move(a, k->inside * PACKET);
		assert_int_equal(kit_put(k, 0, PACKET), SCHEDULER_WRED_DROP);
	}
}

/*
 * An empty queue: the average falls as if 1,000-byte packets came at the sustained rate. A packet
 * that comes meanwhile and is dropped, as the average is still high, changes nothing of that.
 */
static void expect_decay(uint64_t rate, double rate_taken, bool meanwhile) {
	struct scheduler_flow f = wred_flow(100 * PACKET, 100 * PACKET + 1, 1, 6);
	struct average a = {0, 1.0 / 64};
	double packet_ns = 8e9 * 1000 / rate_taken, packets;
	struct kit k;
	uint64_t idle;

	f.sustained = (struct scheduler_limit){rate, 100000000};
	k = one_flow(f, 2000);
	exceed(&k, &a);
	while (k.inside > 0)
		send_one(&k);
	/* packets until the average, with one more at the next arrival, is below the threshold */
	packets = log(100 * PACKET / a.bytes) / log1p(-a.part) - 1;
	assert_true(packets > 10);
	idle = (uint64_t)(packets * packet_ns);
	k.now += idle - (uint64_t)(4 * packet_ns);
	assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_WRED_DROP);
	if (meanwhile)
		assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_WRED_DROP);
	k.now += (uint64_t)(5 * packet_ns);
	assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_QUEUED);
	kit_end(&k);
}

TEST(wred_average_decays_in_an_empty_queue) {
	expect_decay(KIT_BPS(8), 8e6, false);
	expect_decay(KIT_BPS(800), 800e6, false);
	expect_decay(0, 1e9, false);
	expect_decay(KIT_BPS(8), 8e6, true);
}

/* Another seed, other drops; the same seed, the same. */
TEST(wred_draws_from_the_seed) {
	static const uint64_t seeds[] = {77, 77, 78};
	uint32_t first[3] = {0};

	for (size_t n = 0; n < ARRAY_COUNT(seeds); n++) {
		struct kit k = kit_make();

		kit_channel(&k, KIT_BPS(100));
		kit_group_range(&k, 0, 1);
		kit_flow(&k, wred_flow(10 * PACKET, 10000 * PACKET, 6554, 1));
		k.config.seed = seeds[n];
		kit_start(&k);
		for (uint32_t i = 0; i < 5000; i++)
			first[n] = first[n] * 31 + (kit_put(&k, 0, PACKET) == SCHEDULER_QUEUED);
		kit_end(&k);
	}
	assert_int_equal(first[0], first[1]);
	assert_int_not_equal(first[0], first[2]);
}

/* Of a flow that lives, another control begins with nothing of the one before; the same one goes on. */
TEST(another_control_begins_anew) {
	struct scheduler_flow f = wred_flow(50 * PACKET, 90 * PACKET, 65536, 1);
	struct scheduler_flow_report report;
	struct kit k;

	k = one_flow(f, 1000);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_QUEUED);
	f.aqm = SCHEDULER_DOCSIS_PIE;
	f.latency_target = 10000000;
	f.weight = 1;
	assert_null(scheduler_set_flow(k.s, 0, &f));
	scheduler_report_flow(k.s, 0, &report);
	assert_int_equal(report.drop_probability, 0);
	kit_end(&k);
}
