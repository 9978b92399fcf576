/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that wait for their grants: what they send in them, ask for beside, and ask again. */
#include "access_rig.h"

static struct access_counts counts(const struct access_rig *r) {
	struct access_counts c;

	access_counts(r->access, &c);
	return c;
}

static uint64_t frame_at(uint32_t frame) {
	return (uint64_t)frame * FRAME;
}

/* A MAP with one grant, and opportunities for all behind it. */
static void send_grant(struct access_rig *r, uint32_t frame, uint16_t minislots) {
	rig_map(r, frame, frame - 6);
	rig_element(r, 100, DATA, minislots);
	rig_end(r);
	rig_send(r, 0);
}

static void test_a_burst_is_what_was_granted(void **state) {
	struct access_rig r;
	struct access_event *e = r.events;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000, 0);
	send_grant(&r, 20, 3);
	assert_int_equal(rig_run(&r, frame_at(20)), 1);
	assert_int_equal(e->kind, ACCESS_BURST);
	assert_int_equal(e->minislot, 200);
	assert_int_equal(e->minislots, 3);
	assert_int_equal(e->granted, 3 * MINISLOT - HEADER);
	assert_int_equal(e->bytes, 3 * MINISLOT - HEADER);
	assert_int_equal(e->sid, 100);
	assert_int_equal(e->iuc, DATA);
	assert_int_equal(e->time, frame_at(20) - PROPAGATION - BURST);
	assert_int_equal(e->at, frame_at(20));
	assert_int_equal(e->end, frame_at(21));
	assert_int_equal(e->request, 1000 - e->bytes); /* the rest is asked for in it */
	assert_int_equal(access_waiting(r.access, 0), 1000 - e->bytes);
	rig_close(&r);
}

static void test_what_does_not_fill_is_unused(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 50, 0);
	send_grant(&r, 20, 3);
	send_grant(&r, 21, 2);
	assert_int_equal(rig_run(&r, frame_at(21)), 2);
	assert_int_equal(r.events[0].bytes, 50);
	assert_int_equal(r.events[0].request, 0);
	assert_int_equal(r.events[1].bytes, 0);
	assert_int_equal(counts(&r).unused, 3 * MINISLOT - HEADER - 50 + 2 * MINISLOT - HEADER);
	assert_int_equal(counts(&r).empty_bursts, 1);
	rig_close(&r);
}

/* What comes when a burst is filled already waits for the next one. */
static void test_a_burst_is_filled_before_it_is_sent(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	send_grant(&r, 20, 3);
	rig_run(&r, frame_at(20) - PROPAGATION - BURST);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.events[0].bytes, 0);
	access_queue(r.access, 0, 50, r.now);
	assert_int_equal(access_waiting(r.access, 0), 50);
	rig_close(&r);
}

static void test_long_bursts_end_with_their_last_frame(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_map(&r, 20, 14);
	rig_element(&r, 0, DATA, 5); /* nobody's */
	rig_element(&r, 100, DATA, 16);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(20)), 1);
	assert_int_equal(r.events[0].at, frame_at(20));
	assert_int_equal(r.events[0].end, frame_at(23));
	assert_int_equal(counts(&r).unknown_grants, 0);
	rig_close(&r);
}

/* Without segment headers, and with what a burst needs beside its data. */
static void test_single_carrier_bursts(void **state) {
	struct access_channel channel = {.id = 1,
					 .frame = 2560,
					 .frame_minislots = 1,
					 .minislot_bytes = 40,
					 .burst_minislots = 2,
					 .request_minislots = 2};
	struct access_config config = {&channel, 1, 1, 1, 1000, 3};
	struct access_sid sid = {0, 5};
	struct access_flow flow = {.sids = &sid, .sid_count = 1};
	struct access_rig r = {.channels = 1};

	(void)state;
	r.access = access_create(&config, NULL);
	assert_non_null(r.access);
	rig_modem(&r, 0, rig_modem_settings());
	assert_null(access_set_flow(r.access, 0, &flow, 0));
	access_queue(r.access, 0, 500, 0);
	rig_map(&r, 0, 0);
	r.map.ucd_count = 0;
	r.map.alloc_start = 400;
	rig_element(&r, 5, MAP_ADVANCED_LONG, 6);
	rig_element(&r, 5, MAP_ADVANCED_LONG, 2);
	rig_end(&r);
	rig_send_at(&r, 0, 400 * 2560 - HEARD);
	assert_int_equal(rig_run(&r, 410 * 2560), 2);
	assert_int_equal(r.events[0].bytes, 160);
	assert_int_equal(r.events[0].at, 1000 + 400 * 2560);
	assert_int_equal(r.events[0].end, 1000 + 406 * 2560);
	assert_int_equal(r.events[1].granted, 0); /* preamble and guard alone */
	rig_close(&r);
}

static void test_requests_count_in_units(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_flow(&r, 0, (struct access_flow){.request_unit = 16, .outstanding = 2});
	access_queue(r.access, 0, 100, 0);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 1); /* a poll */
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(20)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(r.events[0].request, 112);
	access_queue(r.access, 0, 16 * 70000, r.now); /* more than the field holds */
	rig_map(&r, 30, 15);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(30)), 1);
	assert_int_equal(r.events[0].request, 16 * 65535);
	assert_int_equal(counts(&r).polls, 2);
	rig_close(&r);
}

/* Bytes in doubt, and those that grants are known for, are not asked for twice. */
static void test_nothing_is_asked_for_twice(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000, 0);
	for (uint32_t frame = 20; frame < 23; frame++) {
		rig_map(&r, frame, 10);
		rig_element(&r, 100, MAP_REQUEST, 1);
		rig_end(&r);
		rig_send(&r, 0);
	}
	assert_int_equal(rig_run(&r, frame_at(23)), 1);
	assert_int_equal(r.events[0].request, 1000);
	rig_map(&r, 30, 10);
	rig_element(&r, 100, DATA, 5);
	rig_element(&r, 100, DATA, 5);
	rig_end(&r);
	rig_send(&r, 0);
	access_queue(r.access, 0, 300, frame_at(23));
	assert_int_equal(rig_run(&r, frame_at(31)), 2);
	assert_int_equal(r.events[0].request, 300); /* 1,000 less two grants are still asked for */
	assert_int_equal(r.events[1].request, 0);
	rig_close(&r);
}

static void test_requests_in_doubt_are_limited(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	for (uint32_t frame = 20; frame < 30; frame++) {
		rig_map(&r, frame, 10);
		rig_element(&r, 100, MAP_REQUEST, 1);
		rig_end(&r);
		rig_send(&r, 0);
	}
	for (uint32_t frame = 18; frame < 30; frame++) {
		rig_run(&r, frame_at(frame));
		access_queue(r.access, 0, 10, r.now);
	}
	assert_int_equal(counts(&r).polls, 4);
	assert_int_equal(counts(&r).asked, 40);
	rig_close(&r);
}

/* Ack time passes a poll's request: it is made again, unless a grant is pending. */
static void ask_and_acknowledge(struct access_rig *r, bool pending) {
	rig_open(r, 1, 1);
	access_queue(r->access, 0, 1000, 0);
	rig_map(r, 20, 14);
	rig_element(r, 100, MAP_REQUEST, 1);
	rig_end(r);
	rig_send(r, 0);
	assert_int_equal(rig_run(r, frame_at(20)), 1);
	rig_map(r, 40, 21);
	rig_element(r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(r);
	if (pending)
		rig_pending(r, 100);
	rig_send(r, 0);
	rig_run(r, frame_at(46));
}

static void test_unanswered_requests_are_made_again(void **state) {
	struct access_rig r;

	(void)state;
	ask_and_acknowledge(&r, false);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(r.events[0].request, 1000);
	assert_int_equal(counts(&r).unanswered, 1);
	assert_int_equal(counts(&r).contention, 1);
	rig_close(&r);
}

static void test_pending_requests_are_waited_for(void **state) {
	struct access_rig r;

	(void)state;
	ask_and_acknowledge(&r, true);
	assert_int_equal(r.count, 0);
	rig_map(&r, 50, 30); /* it has been forgotten: neither granted nor pending any more */
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(56)), 1);
	assert_int_equal(r.events[0].request, 1000);
	rig_close(&r);
}

/* With an ack time before it, a request is in doubt for however long it takes. */
static void test_requests_wait_for_the_ack_time(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000, 0);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(20)), 1);
	rig_map(&r, 40, 20); /* "before": its own minislot is not acknowledged yet */
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(46)), 0);
	rig_close(&r);
}

/* What is asked for in a long burst cannot be known before its end. */
static void test_requests_in_long_bursts(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000 + 50 * MINISLOT, 0);
	send_grant(&r, 20, 50);
	assert_int_equal(rig_run(&r, frame_at(20)), 1);
	assert_int_equal(r.events[0].request, 1000 + HEADER);
	for (uint32_t ack = 24; ack < 26; ack++) {
		rig_map(&r, ack + 20, ack);
		rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 10);
		rig_end(&r);
		rig_send(&r, 0);
		assert_int_equal(rig_run(&r, frame_at(ack + 12)), 0);
	}
	assert_int_equal(counts(&r).unanswered, 0); /* the last frame's own minislots are not yet */
	rig_map(&r, 60, 26);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 10);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(61)), 1);
	assert_int_equal(counts(&r).unanswered, 1);
	rig_close(&r);
}

/* A grant on another channel, whose MAP comes after: all channels have to acknowledge. */
static void test_all_channels_acknowledge(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 2, 1);
	access_queue(r.access, 0, 1000, 0);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 0);
	rig_send(&r, 1);
	assert_int_equal(rig_run(&r, frame_at(20)), 1); /* the second poll has nothing to ask */
	rig_map(&r, 40, 22);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(40)), 0);
	rig_map(&r, 42, 22);
	rig_element(&r, 100, DATA, 30);
	rig_end(&r);
	rig_send(&r, 1);
	assert_int_equal(rig_run(&r, frame_at(46)), 1);
	assert_int_equal(r.events[0].bytes, 1000);
	assert_int_equal(counts(&r).unanswered, 0);
	rig_close(&r);
}

static void test_station_maintenance(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_STATION, 4);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, frame_at(20)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_STATION);
	assert_int_equal(r.events[0].minislots, 4);
	assert_int_equal(counts(&r).stations, 1);
	rig_close(&r);
}

/* Minislots are counted in 32 bits, time is not. */
static void test_minislot_counts_wrap(void **state) {
	const uint32_t frame = UINT32_MAX / IN_FRAME - 35;
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 100000, 0);
	for (uint32_t i = 0; i < 80; i += 10) {
		rig_map(&r, frame + i, frame + i - 10);
		rig_element(&r, 100, DATA, 10);
		rig_end(&r);
		rig_send_at(&r, 0, frame_at(frame + i) - HEARD);
		assert_int_equal(rig_run(&r, frame_at(frame + i)), 1);
		assert_int_equal(r.events[0].at, frame_at(frame + i));
		assert_int_equal(r.events[0].minislot, (frame + i) * IN_FRAME);
	}
	rig_close(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_burst_is_what_was_granted),
		cmocka_unit_test(test_what_does_not_fill_is_unused),
		cmocka_unit_test(test_a_burst_is_filled_before_it_is_sent),
		cmocka_unit_test(test_long_bursts_end_with_their_last_frame),
		cmocka_unit_test(test_single_carrier_bursts),
		cmocka_unit_test(test_requests_count_in_units),
		cmocka_unit_test(test_nothing_is_asked_for_twice),
		cmocka_unit_test(test_requests_in_doubt_are_limited),
		cmocka_unit_test(test_unanswered_requests_are_made_again),
		cmocka_unit_test(test_pending_requests_are_waited_for),
		cmocka_unit_test(test_requests_wait_for_the_ack_time),
		cmocka_unit_test(test_requests_in_long_bursts),
		cmocka_unit_test(test_all_channels_acknowledge),
		cmocka_unit_test(test_station_maintenance),
		cmocka_unit_test(test_minislot_counts_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
