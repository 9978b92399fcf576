/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that wait for their grants: what they send in them, ask for beside, and ask again. */
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

/* What comes when a burst is filled already waits for the next one. */
TEST(a_burst_is_filled_before_it_is_sent) {
	kit_hear(0, 20, 14, {100, DATA, 3});
	assert_int_equal(kit_run(kit_at(20) - PROPAGATION - BURST), 1);
	assert_int_equal(kit.events[0].bytes, 0);
	access_queue(kit.access, 0, 50, kit.now);
	assert_int_equal(access_waiting(kit.access, 0), 50);
}

TEST(long_bursts_end_with_their_last_frame) {
	kit_hear(0, 20, 14, {0, DATA, 5}, {100, DATA, 16});
	assert_int_equal(kit_run(kit_at(20)), 1);
	assert_int_equal(kit.events[0].at, kit_at(20));
	assert_int_equal(kit.events[0].end, kit_at(23));
	assert_int_equal(kit_counts().unknown_grants, 0);
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

EACH_TEST(kit_begin, kit_finish)
