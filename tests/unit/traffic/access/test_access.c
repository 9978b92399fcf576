/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that wait for their grants: what they send in them, ask for beside, and make of MAPs that answer, or do not. */
#include "access_kit.h"
#include "test_main.h"

TEST(a_burst_is_what_was_granted) {
	struct access_event *e = kit.events;

	access_queue(kit.access, 0, 1000, 0);
	kit_hear(0, 20, 14, {100, DATA, 3});
	/* The rest is asked for in it. */
	kit_comes(20, {ACCESS_BURST, .bytes = 136, .request = 864});
	assert_int_equal(e->minislot, 200);
	assert_int_equal(e->minislots, 3);
	assert_int_equal(e->granted, 3 * MINISLOT - HEADER);
	assert_int_equal(e->sid, 100);
	assert_int_equal(e->iuc, DATA);
	assert_int_equal(e->time, kit_at(20) - PROPAGATION - BURST);
	assert_int_equal(e->at, kit_at(20));
	assert_int_equal(e->end, kit_at(21));
	assert_int_equal(access_waiting(kit.access, 0), 864);
}

TEST(what_does_not_fill_is_unused) {
	access_queue(kit.access, 0, 50, 0);
	kit_hear(0, 20, 14, {100, DATA, 3});
	kit_hear(0, 21, 15, {100, DATA, 2});
	kit_comes(21, {.bytes = 50}, {.bytes = 0});
	assert_int_equal(kit_counts().unused, 3 * MINISLOT - HEADER - 50 + 2 * MINISLOT - HEADER);
	assert_int_equal(kit_counts().empty_bursts, 1);
}

TEST(a_burst_is_filled_before_it_is_sent) {
	kit_hear(0, 20, 14, {100, DATA, 3});
	assert_int_equal(kit_run(kit_at(20) - PROPAGATION - BURST), 1);
	assert_int_equal(kit.events[0].bytes, 0);
	access_queue(kit.access, 0, 50, kit.now);
	assert_int_equal(access_waiting(kit.access, 0), 50);
}

/* Without segment headers, and with what a burst needs beside its data. */
TEST(single_carrier_bursts) {
	struct access_channel channel = {.id = 1,
					 .frame = 2560,
					 .frame_minislots = 1,
					 .minislot_bytes = 40,
					 .burst_minislots = 2,
					 .request_minislots = 2};
	struct access_config config = {&channel, 1, 1, 1, 1000, 3};
	struct access_sid sid = {0, 5};
	struct access_flow flow = {.sids = &sid, .sid_count = 1};

	access_free(kit.access);
	kit.access = access_create(&config, NULL);
	assert_non_null(kit.access);
	kit_modem(0, (struct access_modem){0});
	assert_null(access_set_flow(kit.access, 0, &flow, 0));
	access_queue(kit.access, 0, 500, 0);
	kit_map(40, 0, {5, MAP_ADVANCED_LONG, 6}, {5, MAP_ADVANCED_LONG, 2});
	kit.map.ucd_count = 0;
	kit_send_at(0, 400 * 2560 - HEARD);
	assert_int_equal(kit_run(410 * 2560), 2);
	assert_int_equal(kit.events[0].bytes, 160);
	assert_int_equal(kit.events[0].at, 1000 + 400 * 2560);
	assert_int_equal(kit.events[0].end, 1000 + 406 * 2560);
	assert_int_equal(kit.events[1].granted, 0); /* preamble and guard alone */
}

TEST(station_maintenance) {
	kit_hear(0, 20, 14, {100, MAP_STATION, 4});
	kit_comes(20, {ACCESS_STATION});
	assert_int_equal(kit.events[0].minislots, 4);
	assert_int_equal(kit_counts().stations, 1);
}

/* Minislots are counted in 32 bits, time is not. */
TEST(minislot_counts_wrap) {
	const uint32_t frame = UINT32_MAX / IN_FRAME - 35;

	access_queue(kit.access, 0, 100000, 0);
	for (uint32_t i = 0; i < 80; i += 10) {
		kit_map(frame + i, frame + i - 10, {100, DATA, 10});
		kit_send_at(0, kit_at(frame + i) - HEARD);
		assert_int_equal(kit_run(kit_at(frame + i)), 1);
		assert_int_equal(kit.events[0].at, kit_at(frame + i));
		assert_int_equal(kit.events[0].minislot, (frame + i) * IN_FRAME);
	}
}

TEST(requests_count_in_units) {
	kit_flow(0, (struct access_flow){.request_unit = 16, .outstanding = 2});
	kit_ask(100, 112);
	access_queue(kit.access, 0, 16 * 70000, kit.now); /* more than the field holds */
	kit_hear(0, 30, 15, {100, MAP_REQUEST, 1});
	kit_comes(30, {ACCESS_REQUEST, .request = 16 * 65535});
	assert_int_equal(kit_counts().polls, 2);
}

TEST(nothing_is_asked_for_twice) {
	kit_ask(1000, 1000);
	for (uint32_t frame = 21; frame < 23; frame++)
		kit_hear(0, frame, 10, {100, MAP_REQUEST, 1});
	assert_int_equal(kit_run(kit_at(23)), 0);
	kit_hear(0, 30, 10, {100, DATA, 5}, {100, DATA, 5});
	access_queue(kit.access, 0, 300, kit_at(23));
	/* 1,000 less two grants are asked for. */
	kit_comes(31, {.bytes = 232, .request = 300}, {.bytes = 232});
}

TEST(requests_in_doubt_are_limited) {
	for (uint32_t frame = 20; frame < 30; frame++)
		kit_hear(0, frame, 10, {100, MAP_REQUEST, 1});
	for (uint32_t frame = 18; frame < 30; frame++) {
		kit_run(kit_at(frame));
		access_queue(kit.access, 0, 10, kit.now);
	}
	assert_int_equal(kit_counts().polls, 4);
	assert_int_equal(kit_counts().asked, 40);
}

TEST(unanswered_requests_are_made_again) {
	for (unsigned pending = 0; pending < 2; pending++) {
		kit_restart(1, 1);
		kit_ask(1000, 1000);
		kit_hear(0, 40, 21, {FOR_ALL, 60}, {pending ? 100 : 4000, DATA, 0});
		assert_int_equal(kit_run(kit_at(46)), 1 - pending);
		assert_int_equal(kit_counts().unanswered, 1 - pending);
		assert_int_equal(kit_counts().contention, 1 - pending);
		assert_int_equal(kit_counts().unanswered_contended, 0); /* it was polled */
		if (pending == 1) {
			kit_hear(0, 50, 30, {FOR_ALL, 60});
			assert_int_equal(kit_run(kit_at(56)), 1);
		}
		assert_int_equal(kit.events[0].kind, ACCESS_REQUEST);
		assert_int_equal(kit.events[0].request, 1000);
	}
}

/* Whole minislots: 1,000 bytes and a segment header take 21, one more or less is another answer. */
TEST(answers_of_another_size) {
	for (uint16_t minislots = 20; minislots <= 22; minislots++) {
		kit_restart(1, 1);
		kit_ask(1000, 1000);
		kit_hear(0, 40, 34, {100, DATA, minislots});
		assert_int_equal(kit_counts().partial, minislots == 20);
		assert_int_equal(kit_counts().excessive, minislots == 22);
	}
}

/* What is asked for in a long burst cannot be known before its end. */
TEST(requests_in_long_bursts) {
	access_queue(kit.access, 0, 1000 + 50 * MINISLOT, 0);
	kit_hear(0, 20, 14, {100, DATA, 50});
	kit_comes(20, {.bytes = 50 * MINISLOT - HEADER, .request = 1000 + HEADER});
	kit_hear(0, 40, 24, {FOR_ALL, 60});
	assert_int_equal(kit_run(kit_at(46)), 0);
	assert_int_equal(kit_counts().unanswered, 0);
	kit_hear(0, 60, 25, {FOR_ALL, 60});
	assert_int_equal(kit_run(kit_at(66)), 1);
	assert_int_equal(kit_counts().unanswered, 1);
}

/* Of two requests the ack time has passed the first only. */
TEST(requests_are_lost_one_by_one) {
	kit_hear(0, 20, 14, {100, MAP_REQUEST, 10}, {100, MAP_REQUEST, 10});
	access_queue(kit.access, 0, 1000, 0);
	kit_run(kit_at(20) - PROPAGATION - BURST);
	access_queue(kit.access, 0, 500, kit.now);
	assert_int_equal(kit_run(kit_at(22)), 1);
	kit_hear(0, 40, 21, {FOR_ALL, 60});
	kit_comes(46, {ACCESS_REQUEST, .request = 1000});
	assert_int_equal(kit_counts().unanswered, 1);
}

TEST(a_granted_request_makes_room) {
	kit_flow(0, (struct access_flow){.header_bytes = HEADER, .outstanding = 1});
	kit_ask(MINISLOT - HEADER, MINISLOT - HEADER);
	kit_hear(0, 30, 10, {100, DATA, 1});
	access_queue(kit.access, 0, 70, kit.now);
	kit_comes(30, {.bytes = MINISLOT - HEADER, .request = 70});
}

/* An ack time that is ahead of its own MAP says nothing of what is asked for behind its begin. */
TEST(ack_times_ahead) {
	kit_restart(2, 1);
	kit_hear(0, 40, 1000);
	kit_hear(1, 50, 30, {100, MAP_REQUEST, 1});
	access_queue(kit.access, 0, 1000, 0);
	assert_int_equal(kit_run(kit_at(50)), 1);
	kit_map(60, 55, {FOR_ALL, 60});
	kit_send_at(1, kit.now);
	assert_int_equal(kit_run(kit_at(66)), 0);
	assert_int_equal(kit_counts().unanswered, 0);
}

TEST(all_channels_acknowledge) {
	kit_restart(2, 1);
	kit_hear(1, 20, 14, {100, MAP_REQUEST, 1});
	kit_ask(1000, 1000); /* the second poll has nothing to ask */
	kit_hear(0, 40, 22, {FOR_ALL, 60});
	assert_int_equal(kit_run(kit_at(40)), 0);
	kit_hear(1, 42, 22, {100, DATA, 30});
	kit_comes(46, {.bytes = 1000});
	assert_int_equal(kit_counts().unanswered, 0);
}

EACH_TEST(kit_begin, kit_finish)
