/* SPDX-License-Identifier: BSD-3-Clause */
/* Service flows, SID clusters and SIDs of modems that live on: what stays keeps its state, what goes leaves. */
#include "us_change_rig.h"

#include "upstream/change/internal.h"

#define KEPT 0 /* cluster 0 of modem 0's first flow: channels 0 and 2 */
#define OTHER 1 /* cluster 3 of it: channel 2 */
#define LAST 8 /* of modem 5 */
#define AES 3 /* stream of modem 1, encrypted, without segment headers */

static struct modem next;
static struct upstream_service_flow flows[2];
static struct sid_cluster cluster;
static struct upstream_sid sids[2];

/* Modem `m` as it is, with copies of its flows to be changed. */
static void copy(unsigned m) {
	next = bench->modems[m];
	memcpy(flows, next.upstream_flows, next.upstream_flow_count * sizeof(flows[0]));
	next.upstream_flows = flows;
}

/* The only SID of the first flow on channel 0 is another one. */
static void one_sid(uint16_t sid) {
	sids[0] = (struct upstream_sid){0, sid};
	cluster = flows[0].clusters[0];
	cluster.sids = sids;
	cluster.sid_count = 1;
	flows[0].clusters = &cluster;
}

/* A segment behind a gap of one. Returns the number that is missing. */
static uint16_t put_behind_gap(unsigned stream) {
	uint16_t missing = bench->segment[stream]++;

	put(stream);
	return missing;
}

static void cluster_goes_and_comes(void **state) {
	uint8_t frame[BENCH_FRAME_MAX], first[BENCH_FRAME_MAX];
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 3};
	struct places_seen before;
	size_t size;

	(void)state;
	setup();
	before = places_now();
	whole(KEPT);
	whole(OTHER);
	size = bench_mac(bench, KEPT, SIZE, first);
	h.sequence = put_behind_gap(KEPT);
	put_behind_gap(OTHER);
	bench_settle(bench);
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 2);
	copy(0);
	flows[0].cluster_count = 1;
	will_be(LIVE_MODEM, 0, &next);
	change();
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 1);
	lost(OTHER, DROP_SEGMENT_FLOW_REMOVED, 1);
	h.sid_cluster = 0;
	bench_segment_as(bench, KEPT, &h, first, size);
	bench_settle(bench);
	bench_complete(bench, KEPT);
	h.sid_cluster = 3; /* by the SID of the one that stayed */
	bench_segment_as(bench, KEPT, &h, frame, bench_mac(bench, OTHER, SIZE, frame));
	bench_settle(bench);
	lost(OTHER, DROP_SEGMENT_CLUSTER, 1);
	whole(OTHER);
	lost(OTHER, DROP_UNKNOWN_SID, 1);
	will_be(LIVE_MODEM, 0, &bench->modems[0]);
	change();
	places_are(before);
	whole(OTHER);
	whole(KEPT);
	bench_complete(bench, OTHER);
	bench_complete(bench, KEPT);
	bench_close(bench);
}

/* Addresses differ in the midst of a frame, of a gap and of fragments. */
static void what_lives_goes_on(void **state) {
	uint8_t frame[BENCH_FRAME_MAX], bytes[BENCH_FRAME_MAX];
	struct docsis_up_header h = {.kind = DOCSIS_KIND_FRAGMENT, .sid = bench_streams[PLAIN].sid};
	struct segment_header second = {.pointer_valid = false, .sid_cluster = 5};
	uint8_t part[BENCH_FRAME_MAX];
	size_t size, unit;

	(void)state;
	setup();
	size = bench_mac(bench, FRAMED, SIZE, frame);
	bench_segment(bench, FRAMED, 0, frame, 60);
	second.sequence = put_behind_gap(FRAMED);
	h.fragment_first = true;
	h.privacy = PRIVACY_BP_UP;
	unit = bench_mac(bench, PLAIN, SIZE, bytes);
	bench_plain(bench, PLAIN, part, bench_frame(bench, 3, &h, bytes, 50, part));
	bench_settle(bench);
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 1);
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 2);
	next = bench->modems[2];
	next.address_count = 1;
	will_be(LIVE_MODEM, 2, &next);
	will_be(LIVE_MODEM, 3, &bench->modems[3]);
	change();
	h.fragment_first = false;
	h.fragment_last = true;
	h.fragment_sequence = 1;
	bench_plain(bench, PLAIN, part, bench_frame(bench, 3, &h, bytes + 50, unit - 50, part));
	bench_segment_as(bench, FRAMED, &second, frame + 60, size - 60);
	bench_settle(bench);
	bench_complete(bench, FRAMED);
	bench_complete(bench, PLAIN);
	nothing_held();
	bench_close(bench);
}

/* What came under the SID of before is decrypted; later it is not the modem's any more. */
static void sid_differs(void **state) {
	uint8_t frame[BENCH_FRAME_MAX];
	struct us_change *c;
	size_t size;

	(void)state;
	setup();
	put(AES);
	to_segments();
	copy(1);
	one_sid(0x2a);
	will_be(LIVE_MODEM, 1, &next);
	c = begin();
	take(c);
	bench_settle(bench);
	bench_complete(bench, AES);
	pass(c);
	finish(c);
	whole(AES);
	lost(AES, DROP_UNKNOWN_SID, 1);
	size = bench_mac(bench, AES, SIZE, frame); /* its privacy element has the SID of before */
	bench_burst(bench, BENCH_SC_QAM, 0x2a, frame, size);
	bench_settle(bench);
	lost(AES, DROP_PRIVACY_SID, 1);
	bench_close(bench);
}

/* Each modem of a crowd gets the SID of the next one. None is unknown at any time. */
static void sids_change_hands(void **state) {
	enum { CROWD = 150 };
	static struct live_change many[CROWD];
	static struct modem moved[CROWD];
	struct live_changes all = {.list = many, .count = CROWD, .room = CROWD};
	struct segment_header h = {.sequence = 0};
	uint8_t padding[40];
	struct us_change *c;
	unsigned steps = 0;

	(void)state;
	changes.count = 0;
	bench_prepare(bench);
	bench_crowd(bench, CROWD);
	bench->room = &crowded;
	bench_start(bench);
	for (unsigned m = 0; m < CROWD; m++) {
		moved[m] = bench->modems[BENCH_MODEMS + m];
		moved[m].upstream_flows = malloc(sizeof(flows[0]));
		assert_non_null(moved[m].upstream_flows);
		moved[m].upstream_flows[0] = bench->modems[BENCH_MODEMS + m].upstream_flows[0];
		moved[m].upstream_flows[0].clusters =
			bench->modems[BENCH_MODEMS + (m + 1) % CROWD].upstream_flows[0].clusters;
		many[m] = (struct live_change){LIVE_MODEM, BENCH_MODEMS + m, {&moved[m]}};
	}
	c = us_change_begin(bench->u, &bench->sg, &all, NULL, why);
	assert_non_null(c);
	do {
		for (unsigned m = 0; m < CROWD; m++) {
			segment_header_write(&h, padding);
			memset(padding + SEGMENT_HEADER_SIZE, 0xff, 20);
			bench_burst(bench, BENCH_SC_QAM, (uint16_t)(BENCH_CROWD_SID + m), padding,
				    SEGMENT_HEADER_SIZE + 20);
		}
		bench_settle(bench);
		steps++;
	} while (!us_change_take(c));
	assert_in_range(steps, 3, 50);
	pass(c);
	us_change_end(c);
	assert_int_equal(bench->u->counters.drops[DROP_UNKNOWN_SID], 0);
	for (unsigned m = 0; m < CROWD; m++) {
		const struct us_stream *s =
			us_stream_of_sid(&bench->u->tables, 0, (uint16_t)(BENCH_CROWD_SID + m));

		assert_int_equal(s->modem, BENCH_MODEMS + (m + CROWD - 1) % CROWD);
		free(moved[m].upstream_flows);
	}
	bench->any_drops = true;
	bench_close(bench);
}

/* Another framing is another flow: what stands in the queue is read by the framing of before. */
static void framing_differs(void **state) {
	uint8_t frame[BENCH_FRAME_MAX], payload[BENCH_FRAME_MAX];
	struct segment_header h = {.pointer_valid = true};
	struct places_seen before;
	struct us_change *c;
	size_t size;

	(void)state;
	setup();
	before = places_now();
	put(PLAIN);
	to_segments();
	copy(3);
	flows[0].segment_header = true;
	will_be(LIVE_MODEM, 3, &next);
	c = begin();
	take(c);
	bench_settle(bench);
	bench_complete(bench, PLAIN);
	pass(c);
	finish(c);
	places_are(before);
	segment_header_write(&h, payload);
	size = bench_mac(bench, PLAIN, SIZE, frame);
	memcpy(payload + SEGMENT_HEADER_SIZE, frame, size);
	bench_plain(bench, PLAIN, payload, SEGMENT_HEADER_SIZE + size);
	bench_settle(bench);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* Flows of a modem come and go, whatever else it has. */
static void flow_goes_and_comes(void **state) {
	struct places_seen before;

	(void)state;
	setup();
	before = places_now();
	for (unsigned i = 0; i < 200; i++) {
		whole(5);
		bench_complete(bench, 5);
		put_behind_gap(5);
		bench_settle(bench);
		copy(2);
		next.upstream_flow_count = 1;
		will_be(LIVE_MODEM, 2, &next);
		change();
		lost(5, DROP_SEGMENT_FLOW_REMOVED, 1);
		nothing_held();
		whole(5);
		lost(5, DROP_UNKNOWN_SID, 1);
		will_be(LIVE_MODEM, 2, &bench->modems[2]);
		change();
		whole(FRAMED);
		bench_complete(bench, FRAMED);
	}
	places_are(before);
	bench_close(bench);
}

/* As many streams as a step may look at. */
static struct modem many_streams(void) {
	enum { STREAMS = US_STEP_NS / US_RECORD_NS, FLOWS = STREAMS / SG_MAX_SID_CLUSTERS };
	static struct upstream_service_flow all[FLOWS];
	static struct sid_cluster of_flow[FLOWS][SG_MAX_SID_CLUSTERS];
	static struct upstream_sid of_cluster[FLOWS][SG_MAX_SID_CLUSTERS];

	_Static_assert(FLOWS * SG_MAX_SID_CLUSTERS == STREAMS && FLOWS <= SG_MAX_MODEM_FLOWS,
		       "one modem's streams are a step");
	for (unsigned f = 0; f < FLOWS; f++) {
		for (unsigned k = 0; k < SG_MAX_SID_CLUSTERS; k++) {
			of_cluster[f][k] = (struct upstream_sid){0, (uint16_t)(0x400 + 8 * f + k)};
			of_flow[f][k] = (struct sid_cluster){k, &of_cluster[f][k], 1};
		}
		all[f] = (struct upstream_service_flow){500 + f, true, of_flow[f],
							SG_MAX_SID_CLUSTERS};
	}
	return (struct modem){.mac = {2, 3}, .upstream_flows = all, .upstream_flow_count = FLOWS};
}

/* One stream more leaves than a step may look at: what waits of it is dropped by the next step. */
static void streams_leave_in_steps(void **state) {
	static const struct group_room wide = {
		.modems = 8,
		.upstream_channels = 3,
		.upstream_flows = 60,
		.streams = 300,
		.sids = 300,
	};
	uint8_t frame[BENCH_FRAME_MAX];
	struct us_change *c;

	(void)state;
	changes.count = 0;
	bench_prepare(bench);
	bench->modems[BENCH_MODEMS] = many_streams();
	bench->sg.modem_count = BENCH_MODEMS + 1;
	bench->room = &wide;
	bench_start(bench);
	bench_mac(bench, LAST, SIZE, frame);
	bench_segment(bench, LAST, 0, frame, FRAME / 2);
	bench_settle(bench);
	will_be(LIVE_MODEM, BENCH_MODEMS, NULL);
	will_be(LIVE_MODEM, bench_streams[LAST].modem, NULL);
	c = begin();
	take(c);
	assert_false(us_change_passed(c));
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 1);
	pass(c);
	nothing_held();
	finish(c);
	lost(LAST, DROP_FRAME_FLOW_REMOVED, 1);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cluster_goes_and_comes),
		cmocka_unit_test(what_lives_goes_on),
		cmocka_unit_test(sid_differs),
		cmocka_unit_test(sids_change_hands),
		cmocka_unit_test(framing_differs),
		cmocka_unit_test(flow_goes_and_comes),
		cmocka_unit_test(streams_leave_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
