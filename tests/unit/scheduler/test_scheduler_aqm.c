/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: buffers, WRED against its formulas, and the names of all drops. */
#include "test.h"

#include <math.h>

#include "scheduler_rig.h"

#define PACKET 1000

/* One flow on a channel that takes a packet of PACKET bytes within 80 ns. */
static struct rig one_flow(struct scheduler_flow f, uint32_t packet_limit) {
	struct rig r = rig_make();

	rig_channel(&r, RIG_BPS(100000));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, f);
	r.config.packet_limit = packet_limit;
	rig_start(&r);
	return r;
}

/* Puts packets in until one is not queued; returns the bytes that were. */
static uint32_t fill_up(struct rig *r, uint32_t flow, uint32_t bytes,
			enum scheduler_verdict expected) {
	uint32_t queued = 0;
	enum scheduler_verdict verdict;

	while ((verdict = rig_put(r, flow, bytes)) == SCHEDULER_QUEUED)
		queued += bytes;
	assert_int_equal(verdict, expected);
	return queued;
}

/* Which of the three sizes counts depends on how many packets are held at an arrival. */
static void buffer_by_how_full_it_is(void **state) {
	static const struct {
		uint32_t others, expected;
	} cases[] = {
		/* 399 are held when the 40th comes, less than half; with one more they are not */
		{0, 40000},
		{360, 40000},
		{361, 39000},
		{379, 21000},
		{380, 20000},
		{600, 20000},
		{680, 20000},
		/* and with 700, seven eighths of it */
		{681, 19000},
		{695, 5000},
		{699, 4000},
		{700, 4000},
		{790, 4000},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct rig r = rig_make();

		rig_channel(&r, RIG_BPS(100));
		rig_group_range(&r, 0, 1);
		rig_flow(&r, (struct scheduler_flow){
				     .min_buffer = 4000, .buffer = 20000, .max_buffer = 40000});
		rig_flow(&r, (struct scheduler_flow){.priority = 1});
		r.config.packet_limit = 800;
		rig_start(&r);
		for (uint32_t k = 0; k < cases[i].others; k++)
			assert_int_equal(rig_put(&r, 1, 64), SCHEDULER_QUEUED);
		rig_expect("bytes beside others:", cases[i].others,
			   fill_up(&r, 0, PACKET, SCHEDULER_FLOW_FULL), cases[i].expected, 0);
		rig_end(&r);
	}
}

static void buffer_to_the_byte(void **state) {
	struct rig r = one_flow((struct scheduler_flow){.max_buffer = 2500, .buffer = 2500}, 100);

	(void)state;
	assert_int_equal(rig_put(&r, 0, 1500), SCHEDULER_QUEUED);
	assert_int_equal(rig_put(&r, 0, 1001), SCHEDULER_FLOW_FULL);
	assert_int_equal(rig_put(&r, 0, 1000), SCHEDULER_QUEUED);
	assert_int_equal(rig_put(&r, 0, 1), SCHEDULER_FLOW_FULL);
	assert_int_equal(rig_take(&r, 1), 1);
	assert_int_equal(rig_put(&r, 0, 1500), SCHEDULER_QUEUED);
	assert_int_equal(rig_put(&r, 0, 1), SCHEDULER_FLOW_FULL);
	rig_end(&r);
}

/* The first of the reasons counts; the rig compares all counters with what it was told. */
static void reasons_in_their_order(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.sustained = {RIG_BPS(1), 1600},
					     .min_buffer = 1500,
					     .buffer = 1500,
					     .max_buffer = 1500});
	rig_flow(&r, (struct scheduler_flow){.group = SCHEDULER_NONE});
	rig_flow(&r, (struct scheduler_flow){.group = 0});
	r.config.packet_limit = 3;
	rig_start(&r);
	assert_int_equal(rig_put(&r, 0, 1601), SCHEDULER_TOO_LONG);
	assert_int_equal(rig_put(&r, 0, 1600), SCHEDULER_FLOW_FULL);
	assert_int_equal(rig_put(&r, 1, 20000), SCHEDULER_NO_FLOW);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rig_put(&r, 2, 100), SCHEDULER_QUEUED);
	assert_int_equal(rig_put(&r, 1, 20000), SCHEDULER_NO_FLOW);
	assert_int_equal(rig_put(&r, 0, 1601), SCHEDULER_TOO_LONG);
	assert_int_equal(rig_put(&r, 0, 1600), SCHEDULER_FULL);
	assert_int_equal(rig_put(&r, 2, 100), SCHEDULER_FULL);
	assert_int_equal(rig_put(&r, 2, SCHEDULER_PACKET_MAX + 1), SCHEDULER_TOO_LONG);
	/* another flow's packets make no room in this one's buffer, and its drops are its own */
	assert_int_equal(rig_take(&r, 1), 1);
	assert_int_equal(rig_put(&r, 0, 1501), SCHEDULER_FLOW_FULL);
	assert_int_equal(rig_put(&r, 0, 1500), SCHEDULER_QUEUED);
	rig_end(&r);
}

static struct scheduler_flow wred_flow(uint32_t min, uint32_t max, uint32_t probability,
				       uint8_t weight) {
	return (struct scheduler_flow){
		.aqm = SCHEDULER_WRED,
		.wred = {min, max, probability, weight},
	};
}

/* Sends the oldest packet, with the others left to wait. */
static void send_one(struct rig *r) {
	r->now += 200;
	assert_int_equal(rig_take(r, 1), 1);
}

/* The average as it is written: it moves at each arrival. */
struct average {
	double bytes, part;
};

static double average_move(struct average *a, uint64_t queue) {
	return a->bytes += ((double)queue - a->bytes) * a->part;
}

/* Fills the queue to `packets` and keeps it so, until the average has come to it, too. */
static void settle(struct rig *r, uint32_t packets, uint8_t weight) {
	for (uint32_t i = 0; i < 20u << weight || r->inside != packets; i++) {
		rig_put(r, 0, PACKET);
		if (r->inside > packets)
			send_one(r);
	}
}

/*
 * A queue that stays at `packets`: what part of the arrivals is dropped, and how far apart? Spread
 * by the count since the last drop, gaps are equally likely from 1 to 1/p: p * 2 / (1 + p) are
 * dropped.
 */
static void expect_drops(uint32_t packets, double p) {
	struct rig r = one_flow(wred_flow(100 * PACKET, 300 * PACKET, 6554, 4), 1000);
	uint32_t arrivals = 400000, drops = 0, gap = 0, longest = 0;

	settle(&r, packets, 4);
	for (uint32_t i = 0; i < arrivals; i++) {
		gap++;
		if (rig_put(&r, 0, PACKET) == SCHEDULER_QUEUED) {
			send_one(&r);
			continue;
		}
		longest = drops++ > 0 && gap > longest ? gap : longest;
		gap = 0;
	}
	rig_expect("drops at packets:", packets, drops, arrivals * 2 * p / (1 + p), 0.03);
	if (longest > 1 / p + 2)
		fail_msg("%u packets without a drop where 1 in %.0f is dropped", longest, 1 / p);
	rig_end(&r);
}

/* max_probability is 0.1, the thresholds are 100 and 300 packets. */
static void wred_probability_is_linear(void **state) {
	(void)state;
	expect_drops(120, 0.01);
	expect_drops(150, 0.025);
	expect_drops(200, 0.05);
	expect_drops(250, 0.075);
	expect_drops(290, 0.095);
}

static void wred_outside_of_its_thresholds(void **state) {
	struct rig r = one_flow(wred_flow(100 * PACKET, 300 * PACKET, 65536, 4), 1000);

	(void)state;
	for (int i = 0; i < 10000; i++) {
		assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_QUEUED);
		if (r.inside > 99)
			send_one(&r);
	}
	rig_end(&r);

	/* a queue of 400 packets, whose average lags behind, is cut off when that comes to 300 */
	r = one_flow(wred_flow(300 * PACKET - 1, 300 * PACKET, 1, 7), 1000);
	for (int i = 0; r.inside < 400 && i < 10000; i++)
		rig_put(&r, 0, PACKET);
	assert_true(r.inside == 400);
	while (rig_put(&r, 0, PACKET) == SCHEDULER_QUEUED)
		send_one(&r);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_WRED_DROP);
	rig_end(&r);
}

/* The arrival at which the average passes a threshold, for each weight, with a queue that grows. */
static void wred_average_moves_as_written(void **state) {
	(void)state;
	for (uint8_t weight = 1; weight <= 12; weight++) {
		struct rig r = one_flow(wred_flow(50 * PACKET, 50 * PACKET + 1, 1, weight), 20000);
		struct average a = {0, ldexp(1, -weight)};
		uint64_t arrivals = 0;

		while (average_move(&a, r.inside * PACKET) < 50 * PACKET + 1) {
			assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_QUEUED);
			arrivals++;
		}
		assert_true(arrivals > 49);
		assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_WRED_DROP);
		rig_end(&r);
	}
}

/* Fills the queue until packets are dropped, and on until the average is that of the queue. */
static void exceed(struct rig *r, struct average *a) {
	do {
		average_move(a, r->inside * PACKET);
	} while (rig_put(r, 0, PACKET) == SCHEDULER_QUEUED);
	for (int i = 0; i < 300; i++) {
		average_move(a, r->inside * PACKET);
		assert_int_equal(rig_put(r, 0, PACKET), SCHEDULER_WRED_DROP);
	}
}

/* And when it comes down again, with a queue that gets shorter. */
static void wred_average_follows_downwards(void **state) {
	struct rig r = one_flow(wred_flow(100 * PACKET, 100 * PACKET + 1, 1, 6), 1000);
	struct average a = {0, 1.0 / 64};
	int drops = 0;

	(void)state;
	exceed(&r, &a);
	while (r.inside > 50)
		send_one(&r);
	while (average_move(&a, r.inside * PACKET) >= 100 * PACKET) {
		assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_WRED_DROP);
		drops++;
	}
	assert_true(drops > 10);
	assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_QUEUED);
	rig_end(&r);
}

/*
 * An empty queue: the average falls as if 1,000-byte packets came at the sustained rate. A packet
 * that comes meanwhile and is dropped, as the average is still high, changes nothing of that.
 */
static void expect_decay(uint64_t rate, double rate_taken, bool meanwhile) {
	struct scheduler_flow f = wred_flow(100 * PACKET, 100 * PACKET + 1, 1, 6);
	struct average a = {0, 1.0 / 64};
	double packet_ns = 8e9 * 1000 / rate_taken, packets;
	struct rig r;
	uint64_t idle;

	f.sustained = (struct scheduler_limit){rate, 100000000};
	r = one_flow(f, 2000);
	exceed(&r, &a);
	while (r.inside > 0)
		send_one(&r);
	/* packets until the average, with one more at the next arrival, is below the threshold */
	packets = log(100 * PACKET / a.bytes) / log1p(-a.part) - 1;
	assert_true(packets > 10);
	idle = (uint64_t)(packets * packet_ns);
	r.now += idle - (uint64_t)(4 * packet_ns);
	assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_WRED_DROP);
	if (meanwhile)
		assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_WRED_DROP);
	r.now += (uint64_t)(5 * packet_ns);
	assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_QUEUED);
	rig_end(&r);
}

static void wred_average_decays_in_an_empty_queue(void **state) {
	(void)state;
	expect_decay(RIG_BPS(8), 8e6, false);
	expect_decay(RIG_BPS(800), 800e6, false);
	expect_decay(0, 1e9, false);
}

static void wred_decay_counts_once(void **state) {
	(void)state;
	expect_decay(RIG_BPS(8), 8e6, true);
}

/* Another seed, other drops; the same seed, the same. */
static void wred_draws_from_the_seed(void **state) {
	uint32_t first[3] = {0};

	(void)state;
	for (uint64_t k = 0; k < 3; k++) {
		struct rig r = rig_make();

		rig_channel(&r, RIG_BPS(100));
		rig_group_range(&r, 0, 1);
		rig_flow(&r, wred_flow(10 * PACKET, 10000 * PACKET, 6554, 1));
		r.config.seed = k < 2 ? 77 : 78;
		rig_start(&r);
		for (uint32_t i = 0; i < 5000; i++)
			first[k] = first[k] * 31 + (rig_put(&r, 0, PACKET) == SCHEDULER_QUEUED);
		rig_end(&r);
	}
	assert_int_equal(first[0], first[1]);
	assert_int_not_equal(first[0], first[2]);
}

/* Of a flow that lives, another control begins with nothing of the one before; the same one goes on. */
static void another_control_begins_anew(void **state) {
	struct scheduler_flow f = wred_flow(50 * PACKET, 90 * PACKET, 65536, 1);
	struct scheduler_flow_report report;
	struct rig r;

	(void)state;
	r = one_flow(f, 1000);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_QUEUED);
	f.aqm = SCHEDULER_DOCSIS_PIE;
	f.latency_target = 10000000;
	f.weight = 1;
	assert_null(scheduler_set_flow(r.s, 0, &f));
	scheduler_report_flow(r.s, 0, &report);
	assert_int_equal(report.drop_probability, 0);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_by_how_full_it_is),
		cmocka_unit_test(buffer_to_the_byte),
		cmocka_unit_test(reasons_in_their_order),
		cmocka_unit_test(wred_probability_is_linear),
		cmocka_unit_test(wred_outside_of_its_thresholds),
		cmocka_unit_test(wred_average_moves_as_written),
		cmocka_unit_test(wred_average_follows_downwards),
		cmocka_unit_test(wred_average_decays_in_an_empty_queue),
		cmocka_unit_test(wred_decay_counts_once),
		cmocka_unit_test(wred_draws_from_the_seed),
		cmocka_unit_test(another_control_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
