/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that come, go and differ while packets pass. */
#include "us_change_rig.h"

#define LAST 5 /* modem of stream 8 */
#define OF_LAST 8

static void modem_comes(void **state) {
	(void)state;
	setup_modems(LAST);
	whole(OF_LAST);
	lost(OF_LAST, DROP_UNKNOWN_SID, 1);
	will_be(LIVE_MODEM, LAST, &bench->modems[LAST]);
	change();
	for (unsigned s = 0; s < BENCH_STREAMS; s++) {
		whole(s);
		bench_complete(bench, s);
	}
	bench_close(bench);
}

/* The lists of a group in service have places with nothing in them, also between others. */
static void free_places_are_passed_over(void **state) {
	static struct upstream_channel places[BENCH_CHANNELS + 1];
	struct modem there;

	(void)state;
	changes.count = 0;
	bench_prepare(bench);
	there = bench->modems[4];
	memset(&bench->modems[4], 0, sizeof(there));
	memcpy(places, bench->sg.upstream_channels, BENCH_CHANNELS * sizeof(places[0]));
	bench->sg.upstream_channels = places;
	bench->sg.upstream_channel_count = BENCH_CHANNELS + 1;
	bench->room = &roomy;
	bench_start(bench);
	assert_null(bench->u->tables.places.own[4]);
	bench->modems[4] = there;
	whole(7);
	lost(7, DROP_UNKNOWN_SID, 1);
	will_be(LIVE_MODEM, 4, &there);
	change();
	for (unsigned s = 0; s < BENCH_STREAMS; s++) {
		whole(s);
		bench_complete(bench, s);
	}
	bench_close(bench);
}

/* In the midst of a segment gap, of a frame and of a frame's fragments. */
static void modem_goes_in_the_midst(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX], fragment[BENCH_FRAME_MAX];
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.sid = bench_streams[OF_LAST].sid,
		.fragment_first = true,
	};

	(void)state;
	setup();
	bench_mac(bench, OF_LAST, SIZE, bytes);
	for (unsigned i = 0; i < 3; i++) {
		h.fragment_sequence = i & 0xf;
		h.fragment_first = i == 0;
		bench_segment(bench, OF_LAST, 0, fragment,
			      bench_frame(bench, LAST, &h, bytes + 20 * i, 20, fragment));
	}
	bench_segment(bench, OF_LAST, 0, bytes, FRAME / 2);
	bench->segment[OF_LAST] += 2;
	bench_segment(bench, OF_LAST, 0, bytes, FRAME);
	bench_segment(bench, OF_LAST, 0, bytes, FRAME);
	bench_settle(bench);
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 2);
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 4);
	assert_true(bench->u->holds.modems[LAST].bytes > 0);
	will_be(LIVE_MODEM, LAST, NULL);
	change();
	nothing_held();
	assert_int_equal(bench->u->holds.modems[LAST].bytes, 0);
	lost(OF_LAST, DROP_SEGMENT_FLOW_REMOVED, 2);
	lost(OF_LAST, DROP_FRAME_FLOW_REMOVED, 4);
	whole(OF_LAST);
	lost(OF_LAST, DROP_UNKNOWN_SID, 1);
	bench_close(bench);
}

/* More fragments than a step may free. */
static void goes_with_many_fragments(void **state) {
	enum { FRAGMENTS = 500 };
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.sid = bench_streams[OF_LAST].sid,
	};
	uint8_t bytes[20] = {0}, fragment[BENCH_FRAME_MAX];
	struct us_change *c;
	unsigned steps = 0;

	(void)state;
	changes.count = 0;
	bench_prepare(bench);
	bench->sg.upstream.held_by_modem = 4000000;
	bench->room = &roomy;
	bench_start(bench);
	for (unsigned i = 0; i < FRAGMENTS; i++) {
		h.fragment_sequence = i & 0xf;
		h.fragment_first = i == 0;
		bench_segment(bench, OF_LAST, 0, fragment,
			      bench_frame(bench, LAST, &h, bytes, sizeof(bytes), fragment));
		bench_settle(bench);
	}
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), FRAGMENTS);
	will_be(LIVE_MODEM, LAST, NULL);
	c = begin();
	take(c);
	for (; !us_change_passed(c); steps++)
		bench_round(bench);
	assert_in_range(steps, 2, 4);
	finish(c);
	nothing_held();
	lost(OF_LAST, DROP_FRAME_FLOW_REMOVED, FRAGMENTS);
	bench_close(bench);
}

/* What stands in the queues when its modem goes is sent. */
static void what_is_on_its_way_goes_on(void **state) {
	struct us_change *c;

	(void)state;
	setup();
	will_be(LIVE_MODEM, LAST, NULL);
	for (unsigned i = 0; i < 20; i++)
		put(OF_LAST);
	to_segments();
	assert_int_equal(bench->u->list.queues[US_SEGMENTS].count, 20);
	c = begin();
	take(c);
	assert_false(us_change_passed(c));
	pass(c);
	finish(c);
	bench_settle(bench);
	bench_complete(bench, OF_LAST);
	assert_int_equal(bench->came[OF_LAST], 20);
	bench_close(bench);
}

/* Its record, what it may hold and what it asked for begin at nothing. */
static void place_is_given_again_empty(void **state) {
	uint8_t request[16];

	(void)state;
	setup();
	bench_segment(bench, OF_LAST, 0, request,
		      docsis_request_write(3, bench_streams[OF_LAST].sid, request));
	bench_settle(bench);
	assert_int_equal(bench->u->requests.sink.by_modem[LAST][REQUEST_FRAME], 1);
	will_be(LIVE_MODEM, LAST, NULL);
	change();
	assert_int_equal(bench->u->requests.sink.by_modem[LAST][REQUEST_FRAME], 0);
	assert_int_equal(bench->u->requests.sink.of_left, 1);
	assert_int_equal(bench->u->requests.sink.by_kind[REQUEST_FRAME], 1);
	assert_null(bench->u->tables.modems[LAST].ipv4);
	assert_int_equal(bench->u->holds.modems[LAST].bytes, 0);
	will_be(LIVE_MODEM, LAST, &bench->modems[LAST]);
	change();
	bench->segment[OF_LAST] = 4000; /* its numbers are what they like */
	whole(OF_LAST);
	bench_complete(bench, OF_LAST);
	bench_close(bench);
}

static void places_are_given_hundreds_of_times(void **state) {
	struct places_seen before;

	(void)state;
	setup();
	before = places_now();
	for (unsigned i = 0; i < 500; i++) {
		will_be(LIVE_MODEM, LAST, i & 1 ? &bench->modems[LAST] : NULL);
		if (i % 3 == 0)
			put(OF_LAST);
		put(PLAIN);
		change();
		bench_settle(bench);
		if (bench->came[OF_LAST] < bench->serial[OF_LAST]) /* it was gone, or not there */
			lost(OF_LAST, DROP_UNKNOWN_SID, 1);
	}
	places_are(before);
	assert_int_equal(bench->u->tables.places.changes, 500);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* Two change their addresses with each other: no step knows but one of the old or new. */
static void addresses_change_hands(void **state) {
	static struct modem next[2];
	struct us_change *c;
	uint8_t frame[BENCH_FRAME_MAX];

	(void)state;
	setup();
	for (unsigned i = 0; i < 2; i++) {
		next[i] = bench->modems[4 + i];
		next[i].addresses = bench->modems[5 - i].addresses;
		will_be(LIVE_MODEM, 4 + i, &next[i]);
	}
	whole(7);
	put(7);
	put(8);
	c = begin();
	take(c);
	bench_settle(bench);
	bench_complete(bench, 7);
	whole(7); /* still under way with the address of before */
	bench_complete(bench, 7);
	bench->modems[4] = next[0];
	bench->modems[5] = next[1];
	put(8); /* with its new one */
	bench_settle(bench);
	bench_complete(bench, 7);
	bench_complete(bench, 8);
	pass(c);
	finish(c);
	whole(7);
	whole(8);
	bench_complete(bench, 7);
	bench_complete(bench, 8);
	bench->modems[4].addresses = next[1].addresses; /* no more its own */
	bench_segment(bench, 7, 0, frame, bench_mac(bench, 7, SIZE, frame));
	bench_settle(bench);
	lost(7, DROP_SOURCE_ADDRESS, 1);
	bench_close(bench);
}

/* A modem that was replaced by another one in the same change keeps the address of the first known. */
static void address_of_one_that_goes(void **state) {
	static struct modem next;

	(void)state;
	setup();
	next = bench->modems[4];
	next.addresses = bench->modems[LAST].addresses;
	will_be(LIVE_MODEM, LAST, NULL);
	will_be(LIVE_MODEM, 4, &next);
	put(OF_LAST);
	bench_round(bench);
	change();
	bench->modems[4] = next;
	whole(7);
	bench_complete(bench, 7);
	bench_settle(bench);
	bench_complete(bench, OF_LAST);
	bench_close(bench);
}

/* What was begun and not taken leaves no trace. */
static void abandoned(void **state) {
	struct places_seen before;

	(void)state;
	setup_modems(LAST);
	before = places_now();
	for (unsigned i = 0; i < 300; i++) {
		will_be(LIVE_MODEM, LAST, &bench->modems[LAST]);
		will_be(LIVE_MODEM, 4, NULL);
		will_be(LIVE_UPSTREAM_CHANNEL, 1, NULL);
		finish(begin());
		places_are(before);
	}
	whole(7);
	whole(2);
	bench_complete(bench, 7);
	bench_complete(bench, 2);
	bench_close(bench);
}

/* Many keys, in steps, with packets of others between them. */
static void crowd_comes_and_goes(void **state) {
	enum { CROWD = 30 };
	static struct us_change *c;
	struct places_seen before;
	unsigned steps;

	(void)state;
	setup();
	before = places_now();
	bench_crowd(bench, CROWD);
	bench->sg.modem_count = BENCH_MODEMS;
	for (unsigned turn = 0; turn < 4; turn++) {
		for (unsigned m = 0; m < CROWD; m++)
			will_be(LIVE_MODEM, BENCH_MODEMS + m,
				turn & 1 ? NULL : &bench->modems[BENCH_MODEMS + m]);
		c = begin();
		for (steps = 1; !us_change_take(c); steps++) {
			put(FRAMED);
			bench_round(bench);
		}
		assert_in_range(steps, 1, CROWD);
		pass(c);
		finish(c);
		bench_settle(bench);
		bench_complete(bench, FRAMED);
	}
	places_are(before);
	bench_close(bench);
}

/* A change of a modem is no way to send more frames that need no address of its own. */
static void the_rate_of_control_frames_goes_on(void **state) {
	struct modem changed;

	(void)state;
	setup();
	bench->u->tables.modems[0].control_at = 12345;
	changed = bench->modems[0];
	will_be(LIVE_MODEM, 0, &changed);
	change();
	assert_int_equal(bench->u->tables.modems[0].control_at, 12345);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rate_of_control_frames_goes_on),
		cmocka_unit_test(modem_comes),
		cmocka_unit_test(free_places_are_passed_over),
		cmocka_unit_test(modem_goes_in_the_midst),
		cmocka_unit_test(goes_with_many_fragments),
		cmocka_unit_test(what_is_on_its_way_goes_on),
		cmocka_unit_test(place_is_given_again_empty),
		cmocka_unit_test(places_are_given_hundreds_of_times),
		cmocka_unit_test(addresses_change_hands),
		cmocka_unit_test(address_of_one_that_goes),
		cmocka_unit_test(abandoned),
		cmocka_unit_test(crowd_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
