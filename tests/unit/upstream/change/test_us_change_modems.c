/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that come, go and differ while packets pass. */
#include "us_change_kit.h"

#define LAST 5 /* modem of stream 8 */
#define OF_LAST 8

static struct modem there; /* modem 4 */

static void with_free_places(void) {
	static struct upstream_channel places[BENCH_CHANNELS + 1];

	there = bench->modems[4];
	memset(&bench->modems[4], 0, sizeof(there));
	memcpy(places, bench->sg.upstream_channels, BENCH_CHANNELS * sizeof(places[0]));
	bench->sg.upstream_channels = places;
	bench->sg.upstream_channel_count = BENCH_CHANNELS + 1;
	with_room();
}

/* The lists of a group in service have places with nothing in them, also between others. */
CASE(free_places_are_passed_over, .prepare = with_free_places) {
	assert_null(bench->u->tables.places.own[4]);
	bench->modems[4] = there;
	drops(7, DROP_UNKNOWN_SID);
	change_to(LIVE_MODEM, 4, &there);
	all_pass();
}

/* More fragments than a step may free. */
CASE(goes_with_many_fragments, .prepare = with_room, .held_by_modem = 4000000) {
	enum { FRAGMENTS = 500 };
	uint8_t bytes[20] = {0}, fragment[BENCH_FRAME_MAX];
	struct us_change *c;
	unsigned steps = 0;

	for (unsigned i = 0; i < FRAGMENTS; i++) {
		size_t size = bench_fragment(OF_LAST, i, i == 0 ? FRAGMENT_FIRST : 0, bytes,
					     sizeof(bytes), fragment);

		bench_handle(OF_LAST, fragment, size);
	}
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), FRAGMENTS);
	will_be(LIVE_MODEM, LAST, NULL);
	c = taken();
	for (; !us_change_passed(c); steps++)
		bench_round();
	assert_in_range(steps, 2, 4);
	finish(c);
	nothing_held();
	lost(OF_LAST, DROP_FRAME_FLOW_REMOVED, FRAGMENTS);
}

/* Its record, what it may hold and what it asked for begin at nothing. */
CASE(place_is_given_again_empty, .prepare = with_room) {
	uint8_t request[16];

	bench_handle(OF_LAST, request,
		     docsis_request_write(3, bench_streams[OF_LAST].sid, request));
	assert_int_equal(bench->u->requests.sink.by_modem[LAST][REQUEST_FRAME], 1);
	change_to(LIVE_MODEM, LAST, NULL);
	assert_int_equal(bench->u->requests.sink.by_modem[LAST][REQUEST_FRAME], 0);
	assert_int_equal(bench->u->requests.sink.of_left, 1);
	assert_int_equal(bench->u->requests.sink.by_kind[REQUEST_FRAME], 1);
	assert_null(bench->u->tables.modems[LAST].ipv4);
	assert_int_equal(bench->u->holds.modems[LAST].bytes, 0);
	change_to(LIVE_MODEM, LAST, &bench->modems[LAST]);
	bench->segment[OF_LAST] = 4000; /* its numbers are what they like */
	passes(OF_LAST);
}

/* A change of a modem is no way to send more frames that need no address of its own. */
CASE(the_rate_of_control_frames_goes_on, .prepare = with_room) {
	struct modem changed = bench->modems[0];

	bench->u->tables.modems[0].control_at = 12345;
	change_to(LIVE_MODEM, 0, &changed);
	assert_int_equal(bench->u->tables.modems[0].control_at, 12345);
}
