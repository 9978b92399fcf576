/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: channels are filled and never overrun, with all that stands around the packets. The
 * rig judges "never": see scheduler_rig.h.
 */
#include "test.h"

#include <math.h>

#include "scheduler/report.h"
#include "scheduler_rig.h"

#define HEADER 12 /* DOCSIS: 6 bytes and an extended header */
#define ROOM 1452 /* of a DEPI frame of 1,500 bytes over IPv6 */
#define ROOM_JUMBO 8952

static void add_flow(struct rig *r, uint32_t group) {
	rig_flow(r, (struct scheduler_flow){
			    .group = group, .modem = rig_modem(r, 0, 0), .header_bytes = HEADER});
}

/* All flows are backlogged; what is measured begins when the channels have their lead. */
static void load(struct rig *r, uint32_t smallest, uint32_t largest, uint64_t ns) {
	for (uint32_t i = 0; i < r->config.flow_count; i++)
		rig_feed_always(r, i, smallest, largest);
	rig_send(r);
	rig_mark(r);
	rig_run(r, ns);
}

static struct rig six_ofdm(void) {
	struct rig r = rig_make();

	for (int i = 0; i < 6; i++)
		rig_channel(&r, RIG_OFDM);
	rig_group_range(&r, 0, 6);
	for (int i = 0; i < 20; i++)
		add_flow(&r, 0);
	return r;
}

/* Four groups of both OFDM channels and half of the SC-QAM ones; each of these is in two groups. */
static struct rig two_ofdm_32_sc_qam(void) {
	struct rig r = rig_make();

	for (int i = 0; i < 2; i++)
		rig_channel(&r, RIG_OFDM);
	for (int i = 0; i < 32; i++)
		rig_channel(&r, RIG_SC_QAM);
	for (uint32_t g = 0; g < 4; g++) {
		uint32_t list[18] = {0, 1};

		for (uint32_t i = 0; i < 16; i++)
			list[2 + i] = 2 + (8 * g + i) % 32;
		rig_group(&r, list, 18);
		for (int i = 0; i < 5; i++)
			add_flow(&r, g);
	}
	return r;
}

static void expect_full(struct rig r, uint16_t depi_room, uint32_t smallest, uint32_t largest,
			uint64_t ns) {
	if (depi_room > 0)
		rig_use_depi(&r, depi_room);
	rig_start(&r);
	load(&r, smallest, largest, ns);
	rig_expect_filled(&r, 0, (uint32_t)r.config.channel_count);
	rig_end(&r);
}

static void six_ofdm_channels(void **state) {
	(void)state;
	expect_full(six_ofdm(), 0, 1000, 1518, 100 * RIG_MS);
	expect_full(six_ofdm(), ROOM, 1000, 1518, 100 * RIG_MS);
	expect_full(six_ofdm(), ROOM_JUMBO, 64, 1518, 50 * RIG_MS);
}

static void two_ofdm_and_32_sc_qam_channels(void **state) {
	(void)state;
	expect_full(two_ofdm_32_sc_qam(), 0, 1000, 1518, 200 * RIG_MS);
	expect_full(two_ofdm_32_sc_qam(), ROOM, 1000, 1518, 200 * RIG_MS);
	expect_full(two_ofdm_32_sc_qam(), ROOM_JUMBO, 64, 1518, 100 * RIG_MS);
}

/*
 * Sizes that meet DEPI's rules just so: cuts before the last bytes, frames that end with a packet,
 * have all the segments that they may or take no more for their age. The rig compares the bytes.
 */
static void every_size_in_depi_frames(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(10000));
	rig_channel(&r, RIG_BPS(3));
	rig_group_range(&r, 0, 1);
	rig_group_range(&r, 1, 1);
	add_flow(&r, 0);
	add_flow(&r, 1);
	rig_use_depi(&r, ROOM);
	r.channel_configs[0].depi.max_segments = 7;
	r.irregular = true;
	rig_start(&r);
	for (uint32_t bytes = 20; bytes < 9000; bytes += bytes < 4000 ? 1 : 97) {
		for (uint32_t n = random_between(&r.random, 1, 20); n > 0; n--)
			assert_int_equal(rig_put(&r, 0, bytes), SCHEDULER_QUEUED);
		assert_int_equal(rig_put(&r, 1, bytes), SCHEDULER_QUEUED);
		rig_run(&r, random_between(&r.random, 1, 90000));
	}
	rig_end(&r);
}

static void service_group_limit(void **state) {
	struct rig r = six_ofdm();

	(void)state;
	r.config.rate_limit = RIG_BPS(10000);
	rig_use_depi(&r, ROOM);
	rig_start(&r);
	load(&r, 1000, 1518, 100 * RIG_MS);
	if (rig_limit_fill(&r) <= 0.995)
		fail_msg("the limit is used to %.4f", rig_limit_fill(&r));
	rig_end(&r);
}

/* The same without it: 11.34 Gbps. */
static void limit_can_be_lifted(void **state) {
	struct rig r = six_ofdm();
	double before;

	(void)state;
	r.config.rate_limit = RIG_BPS(10000);
	rig_start(&r);
	load(&r, 1518, 1518, 20 * RIG_MS);
	before = rig_rate_sum(&r, 0, 20) * (1518.0 + HEADER) / 1518.0;
	assert_null(scheduler_set_rate_limit(r.s, 0));
	r.limit.ns_per_byte = 0;
	rig_run(&r, 5 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, 20 * RIG_MS);
	rig_expect("limit", 0, before, 10e9, 0.005);
	rig_expect_filled(&r, 0, 6);
	rig_end(&r);
}

static void slow_and_fast_channels(void **state) {
	static const uint64_t rates[] = {SCHEDULER_RATE_MIN, 100000, RIG_BPS(3), RIG_BPS(10000),
					 RIG_BPS(100000)};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		uint64_t packet_ns = (1000 + HEADER) * 8 * RIG_S / rates[i];
		struct rig r = rig_make();

		rig_channel(&r, rates[i]);
		rig_group_range(&r, 0, 1);
		add_flow(&r, 0);
		/* packets that take longer than the lead come up to a step late */
		r.step_ns = packet_ns / (packet_ns > SCHEDULER_LEAD_NS / 2 ? 400 : 10);
		rig_start(&r);
		load(&r, 1000, 1000, 1000 * packet_ns);
		if (rig_fill(&r, 0) <= 0.995)
			fail_msg("%llu bps are filled to %.4f", (unsigned long long)rates[i],
				 rig_fill(&r, 0));
		rig_end(&r);
	}
}

/*
 * Small packets at odd rates: what is less than a nanosecond of each does not get lost. Times are
 * in ticks of 1/64 ns: no packet can be wrong by more than a hundredth.
 */
static void rates_do_not_drift(void **state) {
	static const uint64_t rates[] = {777777777, 1890000001, 42240000, RIG_BPS(10000)};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		struct scheduler_channel_report report;
		struct rig r = rig_make();
		double exact;

		rig_channel(&r, rates[i]);
		rig_group_range(&r, 0, 1);
		rig_flow(&r, (struct scheduler_flow){.group = 0});
		rig_start(&r);
		rig_feed_always(&r, 0, 31, 31);
		rig_send(&r);
		rig_run(&r, 30 * RIG_MS);
		scheduler_report_channel(r.s, 0, &report);
		/* it was never idle: all times of the packets, one behind the other, from 0 on */
		exact = 8e9 * (double)report.bytes / (double)rates[i];
		if (fabs((double)report.busy_until - exact) > 1 + 0.01 * (double)report.packets)
			fail_msg("%.0f ns of drift at %llu bps", (double)report.busy_until - exact,
				 (unsigned long long)rates[i]);
		rig_end(&r);
	}
}

/* A group of one channel within others of many. */
static void not_bonded_flows_stay(void **state) {
	struct rig r = two_ofdm_32_sc_qam();
	struct scheduler_group_report report;
	uint32_t single = 5;

	(void)state;
	rig_group(&r, &single, 1);
	add_flow(&r, 4);
	rig_start(&r);
	load(&r, 64, 1518, 50 * RIG_MS);
	assert_true(r.flows[20].packets > 10); /* all on channel 5: the rig knows no other */
	scheduler_report_group(r.s, 4, &report);
	assert_int_equal(report.early_packets, 0);
	assert_int_equal(report.max_skew_ns, 0);
	rig_end(&r);
}

/*
 * An OFDM channel beside one of 42 Mbps: there is skew, and it is bounded by the lead and a
 * packet's 290 us; the rig compares it with the report.
 */
static void skew_is_bounded_and_reported(void **state) {
	struct rig r = rig_make();
	struct scheduler_group_report report;

	(void)state;
	rig_channel(&r, RIG_OFDM);
	rig_channel(&r, RIG_SC_QAM);
	rig_group_range(&r, 0, 2);
	add_flow(&r, 0);
	rig_use_depi(&r, ROOM);
	rig_start(&r);
	load(&r, 1518, 1518, 200 * RIG_MS);
	scheduler_report_group(r.s, 0, &report);
	assert_true(report.early_packets > 1000);
	assert_true(report.max_skew_ns > 100000);
	assert_true(report.max_skew_ns < SCHEDULER_LEAD_NS + 1700 * 8e9 / RIG_SC_QAM);
	rig_end(&r);
}

/* With one channel idle and nothing in the other, the lower index is taken. */
static void equal_channels_from_the_lowest(void **state) {
	static const uint32_t list[] = {3, 1, 2, 0};
	struct rig r = rig_make();

	(void)state;
	for (int i = 0; i < 4; i++)
		rig_channel(&r, RIG_BPS(100));
	rig_group(&r, list, 4);
	add_flow(&r, 0);
	rig_start(&r);
	for (uint64_t i = 0; i < 4; i++) {
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(r.channels[k].packets, k < i);
		rig_put(&r, 0, 1000);
		rig_send(&r);
	}
	rig_end(&r);
}

/*
 * Packets that wait go at any call at which a channel has room: with calls that take one packet
 * each while others wait, and after rests longer than the lead.
 */
static void no_call_is_wasted(void **state) {
	static const uint64_t rests[] = {100, 5000, 99999, SCHEDULER_LEAD_NS - 1, 3 * RIG_MS};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rests); i++) {
		struct rig r = rig_make();

		rig_channel(&r, RIG_BPS(100000));
		rig_group_range(&r, 0, 1);
		add_flow(&r, 0);
		rig_start(&r);
		for (int k = 0; k < 8000; k++)
			rig_put(&r, 0, 1000);
		for (int k = 0; k < 8000; k++) {
			assert_int_equal(rig_take(&r, 1), 1);
			r.now += rests[i];
		}
		rig_end(&r);
	}
}

/* What else a channel carries takes its time, and is in none of its packets. */
static void other_bytes_take_their_time(void **state) {
	struct scheduler_channel_report before, after;
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(1000)); /* 8 us for 1,000 bytes */
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.modem = rig_modem(&r, 0, 0)});
	rig_start(&r);
	scheduler_report_channel(r.s, 0, &before);
	scheduler_charge(r.s, 0, 1000000);
	scheduler_charge(r.s, 1, 1000000); /* there is none */
	scheduler_report_channel(r.s, 0, &after);
	assert_int_equal(after.bytes - before.bytes, 1000000);
	assert_int_equal(after.packets, before.packets);
	r.channels[0].bytes += 1000000; /* as the rig judges what the channel says */
	r.channels[0].free_at = (double)r.now + 1000000 * r.channels[0].ns_per_byte;
	rig_put(&r, 0, 1000);
	r.now += 7000000;
	assert_int_equal(rig_take(&r, 1), 0);
	r.now += 2000000;
	assert_int_equal(rig_take(&r, 1), 1);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_bytes_take_their_time),
		cmocka_unit_test(six_ofdm_channels),
		cmocka_unit_test(two_ofdm_and_32_sc_qam_channels),
		cmocka_unit_test(every_size_in_depi_frames),
		cmocka_unit_test(service_group_limit),
		cmocka_unit_test(limit_can_be_lifted),
		cmocka_unit_test(slow_and_fast_channels),
		cmocka_unit_test(rates_do_not_drift),
		cmocka_unit_test(not_bonded_flows_stay),
		cmocka_unit_test(skew_is_bounded_and_reported),
		cmocka_unit_test(equal_channels_from_the_lowest),
		cmocka_unit_test(no_call_is_wasted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
