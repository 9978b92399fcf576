/* SPDX-License-Identifier: BSD-3-Clause */
/* Modems that come, go and differ while packets pass, and their streams. */
#include "us_change_kit.h"

#include "upstream/change/internal.h"

#define LAST 5 /* modem of stream 8 */
#define OF_LAST 8
#define AES 3 /* stream of modem 1, encrypted, without segment headers */

static struct modem there; /* modem 4 */

static void with_free_places(void) {
	static struct upstream_channel slots[BENCH_CHANNELS + 1];

	there = bench->modems[4];
	memset(&bench->modems[4], 0, sizeof(there));
	memcpy(slots, bench->sg.upstream_channels, BENCH_CHANNELS * sizeof(slots[0]));
	bench->sg.upstream_channels = slots;
	bench->sg.upstream_channel_count = BENCH_CHANNELS + 1;
	with_room();
}

/* The lists of a group in service have slots with nothing in them, also between others. */
CASE(free_places_are_passed_over, .prepare = with_free_places) {
	assert_null(bench->u->tables.slots.own[4]);
	bench->modems[4] = there;
	drops(7, DROP_UNKNOWN_SID);
	change_to(LIVE_MODEM, 4, &there);
	all_pass();
}

CASE(goes_with_many_fragments, .prepare = with_room, .held_by_modem = 4000000) {
	enum { FRAGMENTS = 500 };
	static const uint8_t bytes[20];
	struct us_change *c;
	unsigned steps = 0;

	for (unsigned i = 0; i < FRAGMENTS; i++) {
		bench_put_fragment(OF_LAST, i, i == 0 ? FRAGMENT_FIRST : 0, bytes, sizeof(bytes));
		bench_settle();
	}
	assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), FRAGMENTS);
	will_be(LIVE_MODEM, LAST, NULL);
	c = taken();
	for (; !us_change_flushed(c); steps++)
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
	assert_int_equal(bench->u->requests.sink.of_removed, 1);
	assert_int_equal(bench->u->requests.sink.by_kind[REQUEST_FRAME], 1);
	assert_null(bench->u->tables.modems[LAST].ipv4);
	assert_int_equal(bench->u->pending_set.modems[LAST].bytes, 0);
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

/* What came under the SID of before is decrypted; later it is not the modem's any more. */
CASE(sid_differs, .prepare = with_room) {
	static struct upstream_sid sid = {0, 0x2a};
	struct modem next = bench->modems[1];
	struct upstream_service_flow flow = next.upstream_flows[0];
	struct sid_cluster cluster = {flow.clusters[0].id, &sid, 1};
	uint8_t frame[BENCH_FRAME_MAX];
	struct us_change *c;

	put(AES);
	to_segments();
	flow.clusters = &cluster;
	next.upstream_flows = &flow;
	will_be(LIVE_MODEM, 1, &next);
	c = taken();
	bench_settle();
	bench_complete(AES);
	pass_and_finish(c);
	drops(AES, DROP_UNKNOWN_SID);
	/* its privacy element has the SID of before */
	bench_burst(BENCH_SC_QAM, sid.sid, frame, bench_mac(AES, SIZE, frame));
	bench_settle();
	lost(AES, DROP_PRIVACY_SID, 1);
}

/* A segment of padding with this number of each modem of the crowd. */
static void put_padding(uint16_t number) {
	uint8_t segment[SEGMENT_HEADER_SIZE + 4];

	memset(segment, 0xff, sizeof(segment));
	segment_header_write(&(struct segment_header){.sequence = number}, segment);
	for (unsigned m = 0; m < CROWD; m++)
		bench_burst(BENCH_SC_QAM, (uint16_t)(BENCH_CROWD_SID + m), segment,
			    sizeof(segment));
	bench_settle();
}

/* A stream counts against a step, beside the segment that waits there. */
CASE(streams_are_emptied_in_steps, .prepare = with_crowd) {
	const uint32_t *waiting = &bench->u->reassemble.pending_segments;
	uint32_t before = CROWD;
	struct us_change *c;
	bool done;

	put_padding(0);
	put_padding(2);
	assert_int_equal(*waiting, CROWD);
	for (unsigned m = 0; m < CROWD; m++)
		will_be(LIVE_MODEM, BENCH_MODEMS + m, NULL);
	c = begin();
	do {
		done = us_change_apply(c);
		assert_in_range(before - *waiting, 0,
				US_STEP_NS / (US_RECORD_NS + CHANGE_BUFFER_NS));
		before = *waiting;
	} while (!done);
	assert_int_equal(*waiting, 0);
	pass_and_finish(c);
	bench_dropped(DROP_SEGMENT_FLOW_REMOVED, CROWD);
	bench_expect(DROP_SEGMENT_ORPHAN, CROWD); /* the first ones */
}
