/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of an upstream scheduler through a whole server: on the MAP pseudowire and in the channel's session, before
 * data that waits, cut where they are long, taken of the channel's rate, and accounted for to the end.
 */
#include "messages_kit.h"
#include "test_main.h"

#define FLOW 1

/* Alone in its DEPI frame, at once, with numbers of its own. */
TEST(both_ways) {
	uint32_t session = 0;
	struct seen s;

	bench_open("");
	session = bench->sg.channels[1].session;
	for (uint16_t n = 0; n < 3; n++) {
		assert_true(put(message_pseudowire(0), 100));
		assert_true(put(message_channel(path(), 1), 110));
		server_bench_round(bench);
		assert_true(take(&s));
		assert_int_equal(s.session, PSEUDOWIRE);
		assert_int_equal(s.psp.flow, 0);
		assert_int_equal(s.psp.sequence, n);
		assert_int_equal(s.segments, 1);
		assert_true(s.first.begin && s.first.end && s.first.length == 100);
		assert_int_equal(s.first.data[99], (uint8_t)(serial - 1));
		assert_true(take(&s));
		assert_int_equal(s.session, session);
		assert_int_equal(s.psp.flow, FLOW);
		assert_int_equal(s.psp.sequence, n);
		assert_true(s.first.begin && s.first.end && s.first.length == 110);
		assert_int_equal(s.first.data[0], (uint8_t)serial);
		assert_false(take(&s));
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 6);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 0);
	close_all();
}

/* With data in line for a port that takes nothing. */
TEST(before_data_that_waits) {
	unsigned before = 0;
	struct seen s;

	bench_open("");
	for (int round = 0; round < 250; round++) {
		for (int i = 0; i < 60; i++)
			server_bench_good(bench, 3, 0, 60);
		server_bench_round(bench);
		server_bench_clock(bench)->now += 20000;
	}
	assert_true(bench->group->downstream->lower.waiting_count > 10);
	assert_true(put(message_pseudowire(0), 100));
	assert_true(put(message_channel(path(), 0), 100));
	server_bench_round(bench);
	assert_int_equal(downstream_messages_held(bench->group->downstream), 2);
	while (take(&s)) { /* what the port had already */
		assert_int_not_equal(s.session, PSEUDOWIRE);
		before++;
	}
	assert_int_equal(before, RPHY_DEPTH - 1);
	server_bench_round(bench);
	assert_true(take(&s));
	assert_int_equal(s.session, PSEUDOWIRE);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, FLOW);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, 0);
	assert_int_equal(downstream_messages_held(bench->group->downstream), 0);
	close_all();
}

/* Data whose DEPI frames are complete in the same round goes behind the message, and none of it is lost. */
TEST(data_of_the_same_round) {
	unsigned beside = 0;
	struct seen s;

	bench_open("");
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 12; i++)
			server_bench_good(bench, 0, 0, 300);
		for (int i = 0; i < 4; i++) {
			assert_true(put(message_pseudowire(0), 100));
			server_bench_clock(bench)->now += 50000;
			server_bench_round(bench);
			assert_true(take(&s));
			assert_int_equal(s.session, PSEUDOWIRE);
			for (; take(&s); beside++)
				assert_int_not_equal(s.session, PSEUDOWIRE);
		}
	}
	assert_true(beside > 0);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 200);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 600);
	close_all();
}

/* In order, over two DEPI frames. */
TEST(long_ones_are_cut) {
	struct seen a, b;

	bench_open("");
	for (uint16_t i = 0; i < 2; i++) {
		uint16_t stream = i == 0 ? message_pseudowire(0) : message_channel(path(), 2);

		assert_true(put(stream, 1900));
		server_bench_round(bench);
		assert_true(take(&a) && take(&b));
		assert_int_equal(a.psp.sequence + 1, b.psp.sequence);
		assert_true(a.first.begin && !a.first.end && !b.first.begin && b.first.end);
		assert_int_equal(a.first.length + b.first.length, 1900);
		assert_int_equal(b.first.data[b.first.length - 1], (uint8_t)serial);
		assert_false(take(&a));
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 2);
	close_all();
}

static uint64_t channel_bytes(uint32_t channel) {
	struct scheduler_channel_report r;

	scheduler_report_channel(bench->group->downstream->upper.scheduler, channel, &r);
	return r.bytes;
}

/* Of the channel that carries them, and of no other; the pseudowire is none of them. */
TEST(taken_of_the_channel) {
	uint64_t before;

	bench_open("");
	before = channel_bytes(1);
	assert_true(put(message_pseudowire(0), 100));
	server_bench_round(bench);
	assert_int_equal(channel_bytes(1), before);
	assert_true(put(message_channel(path(), 1), 1000));
	server_bench_round(bench);
	assert_in_range(channel_bytes(1), before + 1000, before + 1100);
	before = channel_bytes(1);
	assert_true(put(message_channel(path(), 1), 500));
	server_bench_round(bench);
	assert_in_range(channel_bytes(1), before + 500, before + 600);
	assert_int_equal(channel_bytes(0), 0);
	assert_int_equal(channel_bytes(2), 0);
	close_all();
}

/* A flow of 0 is that of data: numbers go on, and nobody passes. */
TEST(in_the_flow_of_data) {
	uint16_t data = 0;
	struct seen s;

	bench_open("psp_flow: 0");
	for (int round = 0; round < 10; round++) {
		server_bench_good(bench, 3, 0, 300);
		assert_true(put(message_channel(path(), 2), 100));
		assert_true(put(message_channel(path(), 0), 100));
		server_bench_round(bench);
		server_bench_clock(bench)->now += 100000;
		server_bench_round(bench);
		while (take(&s)) {
			assert_int_equal(s.psp.flow, 0);
			if (s.session == bench->sg.channels[2].session)
				assert_int_equal(s.psp.sequence, data++);
		}
	}
	assert_true(data >= 10);
	assert_int_equal(bench->group->downstream->lower.depi.channels[0].sequence, 10);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 20);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 10);
	close_all();
}

/* A ring that is full refuses; a stop ends what is in the ring and in line. */
TEST(accounted_for_to_the_end) {
	struct seen s;
	unsigned in = 0;

	bench_open("");
	for (int round = 0; round < 200; round++) {
		while (in < 1200 && put(message_pseudowire(0), 100))
			in++;
		server_bench_round(bench);
		assert_true(downstream_balanced(bench->group->downstream));
	}
	assert_false(put(message_pseudowire(0), 100));
	assert_int_equal(downstream_messages_held(bench->group->downstream), in - RPHY_DEPTH + 1);
	assert_true(put(message_pseudowire(0), 100) == false);
	for (unsigned i = 0; i < 10; i++)
		assert_true(take(&s));
	server_bench_round(bench);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), RPHY_DEPTH - 1 + 10);
	downstream_stop(bench->group->downstream);
	assert_int_equal(counted(COUNTER_MESSAGES), in);
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), in - counted(COUNTER_MESSAGES_SENT));
	assert_true(downstream_balanced(bench->group->downstream));
	close_all();
}

/* A stream that is nobody's ends, and is counted. */
TEST(channels_that_are_not_there) {
	struct seen s;

	bench_open("");
	assert_true(put(message_channel(path(), path()->channels - 1), 100));
	server_bench_round(bench);
	assert_false(take(&s));
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), 1);
	close_all();
}

/* Upstream channels alone are no scheduler: nothing is there for messages, and nobody makes any. */
TEST(none_without_a_scheduler) {
	bench_open_with("");
	assert_null(path());
	assert_false(upstream_grants(bench->group->upstream));
	server_bench_close(bench);
}
