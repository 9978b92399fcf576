/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of an upstream scheduler through a whole server: on the MAP pseudowire and in the channel's session, before
 * data that waits, cut where they are long, taken of the channel's rate, and accounted for to the end.
 */
#include "messages_kit.h"

#define FLOW 1

/* Alone in its DEPI frame, at once, with numbers of its own; in order over two DEPI frames where it is long. */
TEST(both_ways) {
	static const uint16_t sizes[] = {100, 1900, 110};
	uint16_t number = 0;
	struct seen s;

	messages_open("");
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		bool cut = sizes[i] > 1500;

		assert_true(put(message_pseudowire(0), sizes[i]));
		assert_true(put(message_channel(path(), 1), sizes[i]));
		for (unsigned way = 0; way < 2; way++) {
			for (unsigned part = 0; part <= cut; part++) {
				unsigned left = cut && part == 1 ? sizes[i] - s.first.length : 0;

				take_next(&s);
				assert_int_equal(s.session,
						 way ? bench->sg.channels[1].session : PSEUDOWIRE);
				assert_int_equal(s.psp.flow, way ? FLOW : 0);
				assert_int_equal(s.psp.sequence, number + part);
				assert_int_equal(s.segments, 1);
				assert_int_equal(s.first.begin, part == 0);
				assert_int_equal(s.first.end, part == cut);
				if (left > 0 || !cut)
					assert_int_equal(s.first.length, cut ? left : sizes[i]);
				assert_int_equal(s.first.data[s.first.length - 1],
						 (uint8_t)(serial - 1 + way));
			}
		}
		number = (uint16_t)(number + 1 + cut);
		assert_false(take(&s));
	}
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 6);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 0);
	messages_close();
}

/* With data in line for a port that takes nothing. */
TEST(before_data_that_waits) {
	struct seen s;

	messages_open("");
	for (int round = 0; round < 250; round++) {
		for (int i = 0; i < 60; i++)
			server_bench_good(bench, 3, 0, 60);
		server_bench_round(bench);
		pass_time(20000);
	}
	assert_true(bench->group->downstream->lower.waiting_count > 10);
	assert_true(put(message_pseudowire(0), 100));
	assert_true(put(message_channel(path(), 0), 100));
	server_bench_round(bench);
	assert_int_equal(downstream_messages_held(bench->group->downstream), 2);
	for (unsigned i = 0; i < RPHY_DEPTH - 1; i++) { /* what the port had already */
		assert_true(take(&s));
		assert_int_not_equal(s.session, PSEUDOWIRE);
	}
	assert_false(take(&s));
	take_next(&s);
	assert_int_equal(s.session, PSEUDOWIRE);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, FLOW);
	assert_true(take(&s));
	assert_int_equal(s.psp.flow, 0);
	assert_int_equal(downstream_messages_held(bench->group->downstream), 0);
	messages_close();
}

/* Data whose DEPI frames are complete in the same round goes behind the message, and none of it is lost. */
TEST(data_of_the_same_round) {
	unsigned beside = 0;
	struct seen s;

	messages_open("");
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 12 && round % 4 == 0; i++)
			server_bench_good(bench, 0, 0, 300);
		assert_true(put(message_pseudowire(0), 100));
		pass_time(50000);
		take_next(&s);
		assert_int_equal(s.session, PSEUDOWIRE);
		for (; take(&s); beside++)
			assert_int_not_equal(s.session, PSEUDOWIRE);
	}
	assert_true(beside > 0);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), 200);
	assert_int_equal(counted(COUNTER_TRANSMITTED), 600);
	messages_close();
}

/* Of the channel that carries them, and of no other; the pseudowire is none of them. */
TEST(taken_of_the_channel) {
	static const struct {
		bool pseudowire;
		uint16_t size;
		unsigned least, most; /* bytes taken of the channel */
	} cases[] = {{true, 100, 0, 0}, {false, 1000, 1000, 1100}, {false, 500, 500, 600}};
	struct scheduler_channel_report r, before;

	messages_open("");
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct scheduler *s = bench->group->downstream->upper.scheduler;

		scheduler_report_channel(s, 1, &before);
		assert_true(put(cases[i].pseudowire ? message_pseudowire(0)
						    : message_channel(path(), 1),
				cases[i].size));
		server_bench_round(bench);
		scheduler_report_channel(s, 1, &r);
		assert_in_range(r.bytes - before.bytes, cases[i].least, cases[i].most);
		for (uint32_t other = 0; other < 3; other += 2) {
			scheduler_report_channel(s, other, &r);
			assert_int_equal(r.bytes, 0);
		}
	}
	messages_close();
}

/* A flow of 0 is that of data: numbers go on, and nobody passes. */
TEST(in_the_flow_of_data) {
	uint16_t data = 0;
	struct seen s;

	messages_open("psp_flow: 0");
	for (int round = 0; round < 10; round++) {
		server_bench_good(bench, 3, 0, 300);
		assert_true(put(message_channel(path(), 2), 100));
		assert_true(put(message_channel(path(), 0), 100));
		server_bench_round(bench);
		pass_time(100000);
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
	messages_close();
}

/* A ring that is full refuses; a stop ends what is in the ring and in line. A stream that is nobody's ends as well. */
TEST(accounted_for_to_the_end) {
	unsigned in = 0;
	struct seen s;

	messages_open("");
	assert_true(put(message_channel(path(), path()->channels - 1), 100));
	server_bench_round(bench);
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), 1);
	for (int round = 0; round < 200; round++) {
		while (in < 1200 && put(message_pseudowire(0), 100))
			in++;
		server_bench_round(bench);
		assert_true(downstream_balanced(bench->group->downstream));
	}
	assert_false(put(message_pseudowire(0), 100));
	assert_int_equal(downstream_messages_held(bench->group->downstream), in - RPHY_DEPTH + 1);
	for (unsigned i = 0; i < 10; i++)
		assert_true(take(&s));
	server_bench_round(bench);
	assert_int_equal(counted(COUNTER_MESSAGES_SENT), RPHY_DEPTH - 1 + 10);
	downstream_stop(bench->group->downstream);
	assert_int_equal(counted(COUNTER_MESSAGES), 1 + in);
	assert_int_equal(counted(COUNTER_MESSAGES_LOST), 1 + in - counted(COUNTER_MESSAGES_SENT));
	assert_true(downstream_balanced(bench->group->downstream));
	messages_close();
}

/* Upstream channels alone are no scheduler: nothing is there for messages, and nobody makes any. */
TEST(none_without_a_scheduler) {
	bench_open(UPSTREAM, RPHY_DEPTH);
	assert_null(path());
	assert_false(upstream_grants(bench->group->upstream));
	server_bench_close(bench);
}
