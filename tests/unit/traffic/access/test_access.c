/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests access.h: bursts in grants, piggyback requests, polls, answered and unanswered requests. */
#include "access_kit.h"
#include "test_main.h"

TEST(burst_fills_grant_and_piggybacks_rest) {
	struct access_event *e = kit.events;

	access_queue(kit.access, 0, 1000, 0);
	kit_send_map(0, 20, 14, {100, DATA, 3});
	/* piggyback request for the remaining bytes */
	kit_expect(20, {ACCESS_BURST, .bytes = 136, .request = 864});
	assert_int_equal(e->minislot, 200);
	assert_int_equal(e->minislots, 3);
	assert_int_equal(e->granted, 3 * MINISLOT_BYTES - HEADER);
	assert_int_equal(e->sid, 100);
	assert_int_equal(e->iuc, DATA);
	assert_int_equal(e->time, frame_time(20) - PROPAGATION - BURST_PROCESSING);
	assert_int_equal(e->at, frame_time(20));
	assert_int_equal(e->end, frame_time(21));
	assert_int_equal(access_waiting(kit.access, 0), 864);
}

TEST(unused_grant_bytes_are_counted) {
	access_queue(kit.access, 0, 50, 0);
	kit_send_map(0, 20, 14, {100, DATA, 3});
	kit_send_map(0, 21, 15, {100, DATA, 2});
	kit_expect(21, {.bytes = 50}, {.bytes = 0});
	assert_int_equal(kit_counts().unused,
			 3 * MINISLOT_BYTES - HEADER - 50 + 2 * MINISLOT_BYTES - HEADER);
	assert_int_equal(kit_counts().empty_bursts, 1);
}

TEST(burst_is_decided_before_it_is_sent) {
	kit_send_map(0, 20, 14, {100, DATA, 3});
	assert_int_equal(kit_run(frame_time(20) - PROPAGATION - BURST_PROCESSING), 1);
	assert_int_equal(kit.events[0].bytes, 0);
	access_queue(kit.access, 0, 50, kit.now);
	assert_int_equal(access_waiting(kit.access, 0), 50);
}

/* No segment headers; each burst has two minislots of overhead. */
TEST(sc_qam_burst_overhead_reduces_data) {
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
	kit_set_modem(0, (struct access_modem){0});
	assert_null(access_set_flow(kit.access, 0, &flow, 0));
	access_queue(kit.access, 0, 500, 0);
	kit_map(40, 0, {5, MAP_ADVANCED_LONG, 6}, {5, MAP_ADVANCED_LONG, 2});
	kit.map.ucd_count = 0;
	kit_send_at(0, 400 * 2560 - MAP_LEAD);
	assert_int_equal(kit_run(410 * 2560), 2);
	assert_int_equal(kit.events[0].bytes, 160);
	assert_int_equal(kit.events[0].at, 1000 + 400 * 2560);
	assert_int_equal(kit.events[0].end, 1000 + 406 * 2560);
	assert_int_equal(kit.events[1].granted, 0); /* preamble and guard time only */
}

TEST(station_maintenance_is_answered) {
	kit_send_map(0, 20, 14, {100, MAP_STATION, 4});
	kit_expect(20, {ACCESS_STATION});
	assert_int_equal(kit.events[0].minislots, 4);
	assert_int_equal(kit_counts().stations, 1);
}

/* Minislot numbers have 32 bits, times have 64. */
TEST(minislot_counts_wrap) {
	const uint32_t frame = UINT32_MAX / MINISLOTS - 35;

	access_queue(kit.access, 0, 100000, 0);
	for (uint32_t i = 0; i < 80; i += 10) {
		kit_map(frame + i, frame + i - 10, {100, DATA, 10});
		kit_send_at(0, frame_time(frame + i) - MAP_LEAD);
		assert_int_equal(kit_run(frame_time(frame + i)), 1);
		assert_int_equal(kit.events[0].at, frame_time(frame + i));
		assert_int_equal(kit.events[0].minislot, (frame + i) * MINISLOTS);
	}
}

TEST(requests_are_rounded_to_request_unit) {
	kit_set_flow(0, (struct access_flow){.request_unit = 16, .outstanding = 2});
	kit_poll(100, 112);
	access_queue(kit.access, 0, 16 * 70000, kit.now); /* more than the field's maximum */
	kit_send_map(0, 30, 15, {100, MAP_REQUEST, 1});
	kit_expect(30, {ACCESS_REQUEST, .request = 16 * 65535});
	assert_int_equal(kit_counts().polls, 2);
}

TEST(granted_bytes_are_not_requested_again) {
	kit_poll(1000, 1000);
	for (uint32_t frame = 21; frame < 23; frame++)
		kit_send_map(0, frame, 10, {100, MAP_REQUEST, 1});
	assert_int_equal(kit_run(frame_time(23)), 0);
	kit_send_map(0, 30, 10, {100, DATA, 5}, {100, DATA, 5});
	access_queue(kit.access, 0, 300, frame_time(23));
	/* of the 1,000 bytes requested, two grants are given */
	kit_expect(31, {.bytes = 232, .request = 300}, {.bytes = 232});
}

TEST(outstanding_requests_are_limited) {
	for (uint32_t frame = 20; frame < 30; frame++)
		kit_send_map(0, frame, 10, {100, MAP_REQUEST, 1});
	for (uint32_t frame = 18; frame < 30; frame++) {
		kit_run(frame_time(frame));
		access_queue(kit.access, 0, 10, kit.now);
	}
	assert_int_equal(kit_counts().polls, 4);
	assert_int_equal(kit_counts().requested, 40);
}

TEST(unanswered_request_is_repeated) {
	for (unsigned pending = 0; pending < 2; pending++) {
		kit_restart(1, 1);
		kit_poll(1000, 1000);
		kit_send_map(0, 40, 21, {CONTENTION, 60}, {pending ? 100 : 4000, DATA, 0});
		assert_int_equal(kit_run(frame_time(46)), 1 - pending);
		assert_int_equal(kit_counts().unanswered, 1 - pending);
		assert_int_equal(kit_counts().contention, 1 - pending);
		assert_int_equal(kit_counts().unanswered_contended, 0); /* the request was a poll */
		if (pending == 1) {
			kit_send_map(0, 50, 30, {CONTENTION, 60});
			assert_int_equal(kit_run(frame_time(56)), 1);
		}
		assert_int_equal(kit.events[0].kind, ACCESS_REQUEST);
		assert_int_equal(kit.events[0].request, 1000);
	}
}

/* 1,000 bytes and a segment header need 21 minislots. Other grants are partial or excessive. */
TEST(partial_and_excessive_grants_are_counted) {
	for (uint16_t minislots = 20; minislots <= 22; minislots++) {
		kit_restart(1, 1);
		kit_poll(1000, 1000);
		kit_send_map(0, 40, 34, {100, DATA, minislots});
		assert_int_equal(kit_counts().partial, minislots == 20);
		assert_int_equal(kit_counts().excessive, minislots == 22);
	}
}

/* A request in a long burst reaches the CMTS at the end of the burst. */
TEST(request_in_burst_counts_from_burst_end) {
	access_queue(kit.access, 0, 1000 + 50 * MINISLOT_BYTES, 0);
	kit_send_map(0, 20, 14, {100, DATA, 50});
	kit_expect(20, {.bytes = 50 * MINISLOT_BYTES - HEADER, .request = 1000 + HEADER});
	kit_send_map(0, 40, 24, {CONTENTION, 60});
	assert_int_equal(kit_run(frame_time(46)), 0);
	assert_int_equal(kit_counts().unanswered, 0);
	kit_send_map(0, 60, 25, {CONTENTION, 60});
	assert_int_equal(kit_run(frame_time(66)), 1);
	assert_int_equal(kit_counts().unanswered, 1);
}

TEST(ack_time_covers_first_request_only) {
	kit_send_map(0, 20, 14, {100, MAP_REQUEST, 10}, {100, MAP_REQUEST, 10});
	access_queue(kit.access, 0, 1000, 0);
	kit_run(frame_time(20) - PROPAGATION - BURST_PROCESSING);
	access_queue(kit.access, 0, 500, kit.now);
	assert_int_equal(kit_run(frame_time(22)), 1);
	kit_send_map(0, 40, 21, {CONTENTION, 60});
	kit_expect(46, {ACCESS_REQUEST, .request = 1000});
	assert_int_equal(kit_counts().unanswered, 1);
}

TEST(grant_frees_outstanding_request) {
	kit_set_flow(0, (struct access_flow){.header_bytes = HEADER, .outstanding = 1});
	kit_poll(MINISLOT_BYTES - HEADER, MINISLOT_BYTES - HEADER);
	kit_send_map(0, 30, 10, {100, DATA, 1});
	access_queue(kit.access, 0, 70, kit.now);
	kit_expect(30, {.bytes = MINISLOT_BYTES - HEADER, .request = 70});
}

/* An ACK time after the MAP's own start does not cover requests after that start. */
TEST(ack_time_after_map_start_is_limited) {
	kit_restart(2, 1);
	kit_send_map(0, 40, 1000);
	kit_send_map(1, 50, 30, {100, MAP_REQUEST, 1});
	access_queue(kit.access, 0, 1000, 0);
	assert_int_equal(kit_run(frame_time(50)), 1);
	kit_map(60, 55, {CONTENTION, 60});
	kit_send_at(1, kit.now);
	assert_int_equal(kit_run(frame_time(66)), 0);
	assert_int_equal(kit_counts().unanswered, 0);
}

TEST(request_needs_ack_of_all_channels) {
	kit_restart(2, 1);
	kit_send_map(1, 20, 14, {100, MAP_REQUEST, 1});
	kit_poll(1000, 1000); /* no request is left for the poll on channel 1 */
	kit_send_map(0, 40, 22, {CONTENTION, 60});
	assert_int_equal(kit_run(frame_time(40)), 0);
	kit_send_map(1, 42, 22, {100, DATA, 30});
	kit_expect(46, {.bytes = 1000});
	assert_int_equal(kit_counts().unanswered, 0);
}

EACH_TEST(kit_set_up, kit_tear_down)
