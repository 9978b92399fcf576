/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that wait for their grants: what they send in them, ask for beside, and ask again. */
#include "access_rig.h"

static void test_a_burst_is_what_was_granted(void **state) {
	struct access_rig r;
	struct access_event *e = r.events;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000, 0);
	rig_send_grant(&r, 20, 3);
	assert_int_equal(rig_run(&r, rig_at(20)), 1);
	assert_int_equal(e->kind, ACCESS_BURST);
	assert_int_equal(e->minislot, 200);
	assert_int_equal(e->minislots, 3);
	assert_int_equal(e->granted, 3 * MINISLOT - HEADER);
	assert_int_equal(e->bytes, 3 * MINISLOT - HEADER);
	assert_int_equal(e->sid, 100);
	assert_int_equal(e->iuc, DATA);
	assert_int_equal(e->time, rig_at(20) - PROPAGATION - BURST);
	assert_int_equal(e->at, rig_at(20));
	assert_int_equal(e->end, rig_at(21));
	assert_int_equal(e->request, 1000 - e->bytes); /* the rest is asked for in it */
	assert_int_equal(access_waiting(r.access, 0), 1000 - e->bytes);
	rig_close(&r);
}

static void test_what_does_not_fill_is_unused(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 50, 0);
	rig_send_grant(&r, 20, 3);
	rig_send_grant(&r, 21, 2);
	assert_int_equal(rig_run(&r, rig_at(21)), 2);
	assert_int_equal(r.events[0].bytes, 50);
	assert_int_equal(r.events[0].request, 0);
	assert_int_equal(r.events[1].bytes, 0);
	assert_int_equal(rig_counts(&r).unused, 3 * MINISLOT - HEADER - 50 + 2 * MINISLOT - HEADER);
	assert_int_equal(rig_counts(&r).empty_bursts, 1);
	rig_close(&r);
}

/* What comes when a burst is filled already waits for the next one. */
static void test_a_burst_is_filled_before_it_is_sent(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_send_grant(&r, 20, 3);
	rig_run(&r, rig_at(20) - PROPAGATION - BURST);
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
	assert_int_equal(rig_run(&r, rig_at(20)), 1);
	assert_int_equal(r.events[0].at, rig_at(20));
	assert_int_equal(r.events[0].end, rig_at(23));
	assert_int_equal(rig_counts(&r).unknown_grants, 0);
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

static void test_station_maintenance(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_STATION, 4);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(20)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_STATION);
	assert_int_equal(r.events[0].minislots, 4);
	assert_int_equal(rig_counts(&r).stations, 1);
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
		rig_send_at(&r, 0, rig_at(frame + i) - HEARD);
		assert_int_equal(rig_run(&r, rig_at(frame + i)), 1);
		assert_int_equal(r.events[0].at, rig_at(frame + i));
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
		cmocka_unit_test(test_station_maintenance),
		cmocka_unit_test(test_minislot_counts_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
