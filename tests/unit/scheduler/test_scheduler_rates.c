/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: rates of one flow and of channels from end to end of their range, and what may go at once. */
#include "test_main.h"

#include <math.h>

#include "scheduler_kit.h"

#define PACKET 1000

/* Within 0.5 % over a second, once the burst is gone. */
TEST(each_rate_alone) {
	static const struct {
		uint64_t rate;
		uint32_t smallest, largest;
		uint64_t step_ns;
		bool irregular;
	} cases[] = {
		{KIT_BPS(1), 1400, 1518, KIT_STEP_NS, false},
		{KIT_BPS(77), 1400, 1518, KIT_STEP_NS, false},
		{KIT_BPS(5000), 1400, 1518, KIT_STEP_NS, false},
		/* small packets at odd rates */
		{1234567, 64, 64, KIT_STEP_NS, false},
		{99999989, 64, 257, KIT_STEP_NS, false},
		/* whenever the clock is read */
		{KIT_BPS(1), 64, 1518, 50000, true},
		{KIT_BPS(100), 64, 1518, 1000, true},
		{KIT_BPS(100), 64, 1518, KIT_MS, true},
		{KIT_BPS(2000), 1000, 1518, 50000, true},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct kit k =
			kit_one_flow((struct scheduler_flow){.sustained = kit_limit(cases[i].rate)},
				     KIT_BPS(10000), 1000);

		k.step_ns = cases[i].step_ns;
		k.irregular = cases[i].irregular;
		kit_feed_all(&k, cases[i].smallest, cases[i].largest);
		kit_measure(&k, 20 * KIT_MS, KIT_S);
		kit_expect("flow of bps", cases[i].rate, kit_rate(&k, 0), (double)cases[i].rate,
			   0.005);
		kit_end(&k);
	}
}

/* A large burst goes at the peak rate, and what comes behind it at the sustained. */
TEST(peak_and_then_sustained) {
	const struct scheduler_flow f = {
		.sustained = {KIT_BPS(100), 5000000}, /* 400 ms at the difference of the rates */
		.peak = KIT_BPS(200),
	};
	struct kit k = kit_one_flow(f, KIT_OFDM, 1000);

	kit_feed_all(&k, 64, 1518);
	kit_measure(&k, 10 * KIT_MS, 380 * KIT_MS);
	kit_expect("peak of flow", 0, kit_rate(&k, 0), 200e6, 0.005);
	kit_measure(&k, 20 * KIT_MS, KIT_S);
	kit_expect("flow", 0, kit_rate(&k, 0), 100e6, 0.005);
	kit_end(&k);
}

/* What a flow, or its modem, lets go at once: at the beginning, and after a rest as long as may be. */
TEST(full_bursts) {
	static const struct {
		struct scheduler_limit sustained, modem;
		uint64_t peak, burst;
	} cases[] = {
		{{KIT_BPS(100), 1518}, {0, 0}, 0, 1518},
		{{KIT_BPS(100), 1000000}, {0, 0}, 0, 1000000},
		{{0, 0}, {KIT_BPS(50), 60000}, 0, 60000},
		{{0, 0}, {0, 0}, KIT_BPS(20), SCHEDULER_PEAK_BURST},
		{{KIT_BPS(10), 200000}, {0, 0}, KIT_BPS(400), 400 * SCHEDULER_PEAK_NS / 8000},
	};
	static const uint64_t rests[] = {0, 400 * KIT_MS, 3600 * KIT_S, 30 * 86400 * KIT_S};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const uint64_t burst = cases[i].burst;
		const uint32_t longest =
			burst < SCHEDULER_PACKET_MAX ? (uint32_t)burst : SCHEDULER_PACKET_MAX;
		struct kit k = kit_make();

		kit_modem(&k, cases[i].modem.rate, cases[i].modem.burst);
		kit_channel(&k, KIT_BPS(100000));
		kit_group_range(&k, 0, 1);
		kit_flow(&k, (struct scheduler_flow){.sustained = cases[i].sustained,
						     .peak = cases[i].peak});
		k.step_ns = KIT_MS;
		kit_start(&k);
		assert_int_equal(kit_put(&k, 0, longest + 1), SCHEDULER_TOO_LONG);
		for (size_t rest = 0; rest < ARRAY_COUNT(rests); rest++) {
			k.now += rests[rest];
			kit_mark(&k);
			kit_put(&k, 0, longest);
			for (uint64_t bytes = 0; bytes <= burst; bytes += 100)
				kit_put(&k, 0, 100);
			kit_take(&k, UINT32_MAX);
			assert_in_range(k.flows[0].bytes, burst - 99, burst);
			kit_run(&k, KIT_S);
		}
		kit_end(&k);
	}
}

/* The ends of what is allowed work: one packet goes at once, whatever the rates. */
TEST(extreme_settings_work) {
	static const uint64_t rates[] = {SCHEDULER_RATE_MIN, SCHEDULER_RATE_MAX};
	static const uint64_t bursts[] = {PACKET, UINT32_MAX, UINT64_MAX};

	for (size_t i = 0; i < ARRAY_COUNT(rates) * ARRAY_COUNT(bursts); i++) {
		struct kit k = kit_make();
		uint64_t rate = rates[i % 2], burst = bursts[i / 2];
		uint32_t modem = kit_modem(&k, rate, burst);

		kit_channel(&k, rate);
		kit_group_range(&k, 0, 1);
		kit_flow(&k, (struct scheduler_flow){.modem = modem,
						     .sustained = {rate, burst},
						     .peak = rate,
						     .reserved = rate,
						     .reserved_packet = UINT16_MAX});
		k.config.rate_limit = rate;
		kit_start(&k);
		for (int n = 0; n < 3; n++)
			assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_QUEUED);
		kit_run(&k, 10 * KIT_STEP_NS);
		assert_true(k.flows[0].packets >= 1);
		for (int n = 0; n < 2; n++) {
			k.now += 60 * KIT_S;
			kit_send(&k);
		}
		assert_int_equal(k.inside, 0);
		kit_end(&k);
	}
}

TEST(slow_and_fast_channels_are_filled) {
	static const uint64_t rates[] = {SCHEDULER_RATE_MIN, 100000, KIT_BPS(3), KIT_BPS(10000),
					 KIT_BPS(100000)};

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		const uint64_t packet_ns = PACKET * 8 * KIT_S / rates[i];
		struct kit k = kit_one_flow((struct scheduler_flow){.group = 0}, rates[i], 1000);

		/* packets that take longer than the lead come up to a step late */
		k.step_ns = packet_ns / (packet_ns > SCHEDULER_LEAD_NS / 2 ? 400 : 10);
		kit_feed_all(&k, PACKET, PACKET);
		kit_measure(&k, k.step_ns, 1000 * packet_ns);
		kit_expect_filled(&k);
		kit_end(&k);
	}
}

/*
 * Small packets at odd rates: what is less than a nanosecond of each does not get lost. Times are
 * in ticks of 1/64 ns: no packet can be wrong by more than a hundredth.
 */
TEST(rates_do_not_drift) {
	static const uint64_t rates[] = {777777777, 1890000001, 42240000, KIT_BPS(10000)};

	for (size_t i = 0; i < ARRAY_COUNT(rates); i++) {
		struct kit k = kit_one_flow((struct scheduler_flow){.group = 0}, rates[i], 1000);
		struct scheduler_channel_report report;
		double exact;

		kit_feed_all(&k, 31, 31);
		kit_send(&k);
		kit_run(&k, 30 * KIT_MS);
		scheduler_report_channel(k.s, 0, &report);
		/* it was never idle: all times of the packets, one behind the other, from 0 on */
		exact = 8e9 * (double)report.bytes / (double)rates[i];
		if (fabs((double)report.busy_until - exact) > 1 + 0.01 * (double)report.packets)
			fail_msg("%.0f ns of drift at %llu bps", (double)report.busy_until - exact,
				 (unsigned long long)rates[i]);
		kit_end(&k);
	}
}

static struct kit one_channel(uint64_t rate, struct scheduler_depi depi) {
	struct kit k = kit_make();

	kit_channel(&k, rate);
	k.channels[0].depi = depi;
	kit_group_range(&k, 0, 1);
	kit_flow(&k, (struct scheduler_flow){.group = 0});
	kit_start(&k);
	return k;
}

/* Bytes counted by hand, for a frame of 100 with entries of 2 and fragments of 16 at least. */
TEST(depi_frames_are_counted) {
	static const struct {
		uint32_t sizes[3], bytes;
		uint16_t segments;
	} cases[] = {
		/* 98 fill a frame; 1 more needs another */
		{{98}, 60 + 2 + 98, 10},
		{{99}, 2 * (60 + 2) + 99, 10},
		/* after 80 there are 18 left: 16 and their entry, which a longer packet is cut for */
		{{80, 17}, 60 + 2 + 80 + 2 + 16 + 60 + 2 + 1, 10},
		/* after 81 the cut would be 15: all goes to the next frame, but for what ends there */
		{{81, 17}, 60 + 2 + 81 + 60 + 2 + 17, 10},
		{{81, 15}, 60 + 2 + 81 + 2 + 15, 10},
		/* with an entry's bytes left a frame is full, with one more it is not */
		{{96, 1}, 2 * (60 + 2) + 97, 10},
		{{95, 1}, 60 + 2 + 95 + 2 + 1, 10},
		{{1, 1, 1}, 2 * 60 + 3 * 2 + 3, 2},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct scheduler_depi depi = {60, 100, 2, 16, cases[i].segments, 1000};
		struct kit k = one_channel(KIT_BPS(100000), depi);
		struct scheduler_channel_report report;

		for (unsigned n = 0; n < 3 && cases[i].sizes[n] > 0; n++)
			kit_put(&k, 0, cases[i].sizes[n]);
		kit_take(&k, 3);
		scheduler_report_channel(k.s, 0, &report);
		assert_int_equal(report.bytes, cases[i].bytes);
		kit_end(&k);
	}
}

/* What else a channel carries takes its time, with a frame of DEPI, and is in none of its packets. */
TEST(other_bytes_take_their_time) {
	static const struct scheduler_depi rules[] = {{0}, {60, 100, 2, 16, 10, 1000}};

	for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
		struct kit k = one_channel(KIT_BPS(1000), rules[i]); /* 8 us for 1,000 bytes */
		struct scheduler_channel_report r;

		kit_send(&k);
		scheduler_charge(k.s, 0, 1000000);
		scheduler_charge(k.s, 1, 1000000); /* there is none */
		scheduler_report_channel(k.s, 0, &r);
		assert_int_equal(r.bytes, 1000000 + rules[i].frame_bytes + rules[i].entry_bytes);
		assert_int_equal(r.packets, 0);
		kit_put(&k, 0, PACKET);
		k.now += 7 * KIT_MS;
		assert_int_equal(kit_take(&k, 1), 0);
		k.now += 2 * KIT_MS;
		assert_int_equal(kit_take(&k, 1), 1);
		kit_end(&k);
	}
}
